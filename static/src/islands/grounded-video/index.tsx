// The clip of an item with the boxes of its reference (solid) and of answers (dashed), and the times that they cite.
import { render } from "preact";
import { errorText } from "../../lib/api";
import { Notice } from "../shared/parts";
import type { Film, FilmPayload } from "./film";
import { Lanes } from "./lanes";
import { openFilm } from "./open";
import { rowsOf } from "./rows";
import { Controls, Screen } from "./screen";

export async function mount(host: HTMLElement): Promise<Film | null> {
  try {
    const inline = document.getElementById(host.dataset.payload ?? "grounded-video")?.textContent;
    if (!inline) throw new Error("The page has no facts of the clip. Reload it.");
    const film = await openFilm(JSON.parse(inline) as FilmPayload);
    host.replaceChildren();
    render(<Grounded film={film} />, host);
    void film.player.seek(0);
    host.dataset.ready = "true";
    return film;
  } catch (error) {
    console.error(error);
    host.replaceChildren();
    render(
      <Notice kind="warn" icon="exclamation-triangle">
        <p>{errorText(error)}</p>
      </Notice>,
      host,
    );
    return null;
  }
}

function Grounded({ film }: { film: Film }) {
  const { answers, reference } = film.payload;
  return (
    <div class="film">
      <Screen film={film} />
      <Controls film={film} />
      {answers.length > 0 && (
        <div class="film-sides" role="group" aria-label="Boxes and times shown">
          {reference && <span class="film-key is-solid">{reference.name}, solid</span>}
          {answers.map((side) => (
            <button key={side.id} type="button" class="film-key is-dashed" aria-pressed={film.shown.value.has(side.id)} onClick={() => film.toggle(side.id)}>
              {side.name}
            </button>
          ))}
        </div>
      )}
      <Lanes film={film} rows={rowsOf(film)} />
    </div>
  );
}
