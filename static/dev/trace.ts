// Draws the server's part of the trace page and answers the two questions the island asks, all in the browser.
import type { AuditPayload } from "../src/lib/payload";
import { AUDIT_WORDS, GOLD_WORDS } from "../src/lib/words";
import { kitchen, long } from "./payload";

const query = new URLSearchParams(location.search);
const n = Number(query.get("n") ?? 0);
/** `?from=ADDRESS` shows the payload of a file, for one that the server made. */
const from = query.get("from");
const payload = from ? ((await (await fetch(from)).json()) as AuditPayload) : n ? long(n) : kitchen();
const escape = (text: string): string => new Option(text).innerHTML;

const icon = (name: string): string => `<svg class="icon" aria-hidden="true"><use href="/static/icons.svg#${name}"/></svg>`;
const chip = (kind: string, words: { word: string; icon: string }, extra = ""): string =>
  `<span class="chip ${kind}" ${extra}>${icon(words.icon)}${words.word}</span>`;

function page(audit: AuditPayload): string {
  const segments = audit.segments
    .map(
      (segment) => `<li class="segment${segment.context ? " is-context" : ""}" id="S${segment.index}" data-segment="${segment.index}" tabindex="-1">
      <span class="segment-id">S${segment.index}</span><div><p class="segment-text${segment.context ? " segment-context-text" : ""}">${escape(segment.text)}</p>
      ${segment.label ? `<div class="chips">${segment.gold ? `<span class="chip-source">Gold</span>${chip(segment.gold, GOLD_WORDS[segment.gold])}` : ""}<span class="chip-source">Audit</span>${chip(segment.label, AUDIT_WORDS[segment.label], "data-audit-chip")}</div>` : ""}
      </div></li>`,
    )
    .join("");
  const dots = audit.segments.filter((s) => s.label).slice(0, 12).map((s) => `<a class="${s.label}" href="#S${s.index}">S${s.index}</a>`).join("");
  return `<a class="skip-link" href="#main">Skip to content</a><div class="app app-fill">
  <header class="bar"><a class="brand" href="#">${icon("diagram-3")}Reasonaudit</a><nav class="crumbs" aria-label="Breadcrumb"><ol><li><a href="#">Data sets</a></li><li><a href="#">Harness</a></li><li><span aria-current="page">Trace 1</span></li></ol></nav><span class="grow"></span><span class="chip outline">${icon("info-circle")}Made-up data</span><button class="btn btn-quiet btn-sm" data-shortcuts hidden>${icon("keyboard")}Shortcuts</button><span class="who">AB</span></header>
  <div class="sub" role="region" aria-label="Trace"><h1>${escape(audit.trace.title)}</h1><span class="muted">Trace 1 of 1</span><span class="grow"></span><nav class="dots" aria-label="Segments">${dots}</nav><button class="btn btn-primary btn-sm">Run audit</button></div>
  <main id="main" class="workspace"><section class="pane" aria-label="Case" tabindex="0"><div class="pane-head"><h2>Case</h2></div><div class="case"><h3>Case</h3><p>${escape(audit.segments[0]?.text ?? "")}</p><h3>Measurements</h3><dl class="num"><dt>Oven</dt><dd>230 °C, 35 min</dd><dt>Counter</dt><dd>2 h</dd></dl></div></section>
  <section class="pane" aria-label="Reasoning segments"><div class="pane-head"><h2>Reasoning segments</h2><span class="grow"></span><span class="muted small"><kbd>J</kbd> <kbd>K</kbd> move</span></div><ol class="segments">${segments}</ol></section>
  <section class="pane" aria-label="Structural audit"><div class="pane-body py-2 small muted">A line of the page about the labeller and its coverage</div><div data-island="trace-audit" data-src="/api/v1/audits/1/" data-payload="audit-payload"></div></section></main></div>`;
}

const reply = (body: unknown, status = 200): Response => new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });
const realFetch = window.fetch.bind(window);
window.fetch = async (input, init) => {
  const url = String(input);
  if (!url.startsWith("/api/")) return realFetch(input, init);
  await new Promise((resolve) => setTimeout(resolve, Number(query.get("wait") ?? 50)));
  if (url.endsWith("/what-if/")) {
    const { edits } = JSON.parse(String(init?.body)) as { edits: Parameters<typeof kitchen>[0] };
    const next = kitchen(edits);
    const changed = next.segments.flatMap((segment, k) => {
      const from = payload.segments[k]?.label;
      return from && segment.label && from !== segment.label ? [{ index: segment.index, from, to: segment.label }] : [];
    });
    return reply({ segments: next.segments, edges: next.edges, changed });
  }
  if (url.includes("/flips/")) {
    const set = [{ premises: [4], target: 5, from: "neutral", to: "entailment" }];
    return reply({ segment: 8, from: "unsupported", to: "supported", found: true, searched_up_to: 3, size: 1, truncated: false, sets: [set, [{ ...set[0], premises: [2] }]] });
  }
  return reply({ error: { code: "not_found", message: "The harness has no such address.", remedy: "" } }, 404);
};

document.body.innerHTML = page(payload);
const script = document.createElement("script");
script.type = "application/json";
script.id = "audit-payload";
script.textContent = JSON.stringify(payload);
document.body.append(script);
const started = performance.now();
await import("../src/main");
const host = document.querySelector<HTMLElement>("[data-island]");
while (!host?.dataset.ready) await new Promise((resolve) => setTimeout(resolve, 5));
console.info(`island ready after ${Math.round(performance.now() - started)} ms`);
// `?do=…` runs a few steps for a screenshot: tab names, "what-if", "flips", "text", "sheet".
for (const step of (query.get("do") ?? "").split(",").filter(Boolean)) {
  const press = (key: string): boolean => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const keys: Record<string, string> = { tree: "t", hypergraph: "h", "node-link": "n", table: "r", text: "x", "what-if": "w", sheet: "?", next: "j", previous: "k" };
  if (keys[step]) press(keys[step]);
  else document.querySelector<HTMLElement>(step)?.click();
  await new Promise((resolve) => setTimeout(resolve, 250));
}
document.body.dataset.done = "true";
