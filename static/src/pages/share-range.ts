// Bars of the share filter follow its limits; the server marks them by the same rule (`share_bars`) when a page is loaded.
import { barIsTaken } from "../lib/selection";

const limit = (id: string, otherwise: number): number => {
  const value = document.querySelector<HTMLInputElement>(id)?.valueAsNumber;
  return value === undefined || Number.isNaN(value) ? otherwise : value;
};

function show(): void {
  const [low, high] = [limit("#share-from", 0), limit("#share-to", 100)];
  for (const bar of document.querySelectorAll<SVGElement>("[data-share]")) {
    bar.classList.toggle("on", barIsTaken(Number(bar.dataset.share), low, high));
  }
}

document.addEventListener("input", (event) => {
  if ((event.target as Element).matches("#share-from, #share-to")) show();
});
// Limits may have been typed before this part was loaded.
show();
