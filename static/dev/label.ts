// Draws the server's part of the workspace's page and answers its requests in the browser. `?do=` plays keys for a screenshot.
import { makePayload, makeServer } from "./label-server";

const query = new URLSearchParams(location.search);
const server = makeServer(makePayload(query), query.get("fault") ?? "");
const icon = (name: string): string => `<svg class="icon" aria-hidden="true"><use href="/static/icons.svg#${name}"/></svg>`;
const { payload } = server;

document.body.innerHTML = `<a class="skip-link" href="#main">Skip to content</a><div class="app app-fill">
<header class="bar"><a class="brand" href="#">${icon("diagram-3")}reasonaudit</a><nav class="crumbs" aria-label="Breadcrumb"><ol><li><a href="#">My cases</a></li><li><span>${payload.study.name}</span></li><li><span aria-current="page">Case 12</span></li></ol></nav><span class="grow"></span>
<span class="saved-place" data-label-saved></span><button class="btn btn-quiet btn-sm" data-shortcuts hidden>${icon("keyboard")}Shortcuts</button><button class="btn btn-quiet btn-sm" data-guideline hidden>${icon("book")}Guideline</button><span class="who">R</span></header>
<section aria-label="Page head"><div class="sub" data-label-head><h1>…</h1></div><div data-label-notices></div></section>
<main id="main" class="workspace label-workspace"><div data-island="label-case" data-payload="assignment"></div></main></div>`;
const script = document.createElement("script");
script.type = "application/json";
script.id = "assignment";
script.textContent = JSON.stringify(payload);
document.body.append(script);

const realFetch = window.fetch.bind(window);
window.fetch = async (input, init) => {
  const url = String(input);
  if (!url.startsWith("/api/") && !url.startsWith("/accounts/")) return realFetch(input, init);
  await new Promise((resolve) => setTimeout(resolve, 60));
  if (server.fault === "offline") throw new TypeError("offline");
  const body = init?.body ? (JSON.parse(String(init.body)) as Record<string, unknown>) : {};
  const [status, answer] = server.answer(init?.method ?? "GET", url, body, new Headers(init?.headers).get("Idempotency-Key"));
  return new Response(JSON.stringify(answer), { status, headers: { "Content-Type": "application/json" } });
};
Object.assign(window, { server });
if (query.has("fresh")) indexedDB.deleteDatabase("reasonaudit");
await import("../src/main");
const host = document.querySelector<HTMLElement>("[data-island]");
while (!host?.dataset.ready) await new Promise((resolve) => setTimeout(resolve, 5));
document.body.dataset.done = "true";
