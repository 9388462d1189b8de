// Observable Plot under our content security policy and with names that a screen reader can use.
import * as Plot from "@observablehq/plot";

/** Plot puts a style sheet into every drawing, which the content security policy refuses; results.css has its rules. */
export function draw(options: Plot.PlotOptions): Element {
  const drawn = Plot.plot({ ...options, figure: false });
  for (const sheet of drawn.querySelectorAll("style")) sheet.remove();
  // A name needs a role; the groups inside have none.
  for (const part of drawn.querySelectorAll("g[aria-label]")) part.removeAttribute("aria-label");
  drawn.setAttribute("role", drawn.querySelector("a") ? "group" : "img");
  return drawn;
}
