// Entry point of every page. Small on purpose: it finds islands and loads only what the page uses.
import "./styles/main.css";

type Island = { mount(host: HTMLElement): unknown };

const islands: Record<string, () => Promise<Island>> = {
  "trace-audit": () => import("./islands/trace-audit/index"),
  "run-progress": () => import("./islands/run-progress/index"),
  "case-search": () => import("./islands/case-search/index"),
  "study-results": () => import("./islands/study-results/index"),
  "label-case": () => import("./islands/label-case/index"),
  adjudicate: () => import("./islands/adjudicate/index"),
  "video-refine": () => import("./islands/video-refine/index"),
  "reasoning-study": () => import("./islands/reasoning-study/index"),
  "reasoning-audit": () => import("./islands/reasoning-audit/index"),
  "reasoning-question": () => import("./islands/reasoning-question/index"),
  "benchmark-charts": () => import("./islands/benchmark-charts/index"),
  "benchmark-rate": () => import("./islands/benchmark-rate/index"),
  "grounded-video": () => import("./islands/grounded-video/index"),
  "rationale-audit": () => import("./islands/rationale-audit/index"),
};

for (const host of document.querySelectorAll<HTMLElement>("[data-island]")) {
  const load = islands[host.dataset.island ?? ""];
  if (!load) {
    console.error(`No island is called "${host.dataset.island}".`);
    continue;
  }
  load()
    .then((island) => island.mount(host))
    .catch((error: unknown) => {
      console.error(error);
      host.innerHTML = '<div class="notice bad" role="alert"><p>This part of the page could not be loaded. Reload the page; if it stays, the built files may be out of date (npm run build).</p></div>';
    });
}

const bootstrapParts: Record<string, () => Promise<unknown>> = {
  dropdown: () => import("bootstrap/js/dist/dropdown"),
  collapse: () => import("bootstrap/js/dist/collapse"),
  modal: () => import("bootstrap/js/dist/modal"),
};
for (const [name, load] of Object.entries(bootstrapParts)) {
  if (document.querySelector(`[data-bs-toggle="${name}"]`)) void load();
}

// Small help for server-rendered pages, loaded only where its elements are. Without scripts the pages work all the same.
const pageParts: Record<string, () => Promise<unknown>> = {
  "#selection": () => import("./pages/trace-selection"),
  "#share-from": () => import("./pages/share-range"),
  "[data-submit-on-change]": () => import("./pages/submit-on-change"),
  "form[data-logout]": () => import("./pages/logout-guard"),
  "form[data-upload]": () => import("./pages/video-upload"),
  "[data-split-cursor]": () => import("./pages/segment-split"),
  "[data-difficulty-review]": () => import("./pages/difficulty-review"),
  // Plans come later by htmx on the list of traces and on a study's page; their place is there from the start.
  "#plan, #plan-all, [data-submit-once]": () => import("./pages/submit-once"),
};
for (const [selector, load] of Object.entries(pageParts)) {
  if (document.querySelector(selector)) void load();
}

// Popovers made of <details class="pop-host"> close like a menu: Escape, or a click elsewhere.
document.addEventListener("click", (event) => {
  for (const host of document.querySelectorAll<HTMLDetailsElement>("details.pop-host[open]")) {
    if (!host.contains(event.target as Node)) host.open = false;
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const host of document.querySelectorAll<HTMLDetailsElement>("details.pop-host[open]")) {
    host.open = false;
    host.querySelector<HTMLElement>("summary")?.focus();
  }
});
