// Everything of the clip on one axis of time: pictures, sound, words, objects, reasoning; one playhead through all of it.
import { effect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Step } from "../../lib/video/document";
import { panBy, tellApart, toPx, zoomAt } from "../../lib/video/timeline";
import { plural } from "../../lib/words";
import { Icon } from "../shared/parts";
import { Filmstrip, Ruler, Wave } from "./media-lanes";
import { Overview } from "./overview";
import type { Span } from "./span-lane";
import { SpanShape } from "./span-lane";
import { SidesLane } from "./adjudication-sides";
import { MOST_REACTION_MS } from "./settings";
import { SoundHead } from "./sound-name";
import { TrackRows } from "./track-rows";
import { Transcript } from "./transcript-lane";
import type { Workspace } from "./workspace";

const HEAD = 208;
const WAVE_HEIGHT = 44;

export function Timelines({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const body = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = body.current;
    if (!element) return;
    let first = true;
    const measure = (): void => {
      const width = Math.max(1, element.clientWidth - HEAD);
      const before = store.view.peek();
      // At first the whole clip; later the left edge and the zoom stay.
      store.setView(first ? { start: 0, scale: store.bounds.duration / width, width } : { ...before, width });
      first = false;
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    const wheel = (event: WheelEvent): void => {
      const list = (event.target as Element).closest<HTMLElement>("[data-tracks]");
      const view = store.view.peek();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        store.setView(panBy(view, event.deltaX || event.deltaY, store.bounds));
        return;
      }
      // A list of objects that is longer than its room scrolls; with Ctrl it zooms as the rest does.
      if (list && list.scrollHeight > list.clientHeight && !event.ctrlKey) return;
      event.preventDefault();
      const at = event.clientX - element.getBoundingClientRect().left - HEAD;
      store.setView(zoomAt(view, 1.0018 ** event.deltaY, Math.min(Math.max(0, at), view.width), store.bounds));
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => {
      observer.disconnect();
      element.removeEventListener("wheel", wheel);
    };
  }, []);
  const { tracks, events } = store;
  const steps = (["visual", "audio"] as const).filter((step) => store.stepSpan(step) !== null).length;
  const zoom = (factor: number): void => store.setView(zoomAt(store.view.peek(), factor, store.view.peek().width / 2, store.bounds));
  return (
    <section class="tl" aria-label="Timelines">
      <div class="tl-bar">
        <h2>Timelines</h2>
        <span class="muted nowrap">
          {plural(tracks.value.length, "object")} · {plural(events.value.length, "sound")} · {plural(steps, "timed step")}
        </span>
        <input class="form-control form-control-sm tl-filter" type="search" placeholder="Filter objects" aria-label="Filter objects by name or source" value={store.filter.value} onInput={(event) => (store.filter.value = event.currentTarget.value)} />
        <span class="grow" />
        <span class="muted nowrap tl-hint">Drag to select, scroll to zoom</span>
        {store.payload.value.video.has_audio && <Record workspace={workspace} />}
        <button type="button" class="btn btn-quiet btn-sm" aria-pressed={store.spectrogram.value} disabled={!store.payload.value.video.spectrogram} onClick={() => (store.spectrogram.value = !store.spectrogram.peek())}>
          Spectrogram
        </button>
        <button type="button" class="btn btn-quiet btn-sm btn-icon" aria-label="Zoom timelines out" title="Zoom out" onClick={() => zoom(2)}>
          <Icon name="zoom-out" />
        </button>
        <button type="button" class="btn btn-quiet btn-sm btn-icon" aria-label="Zoom timelines in" title="Zoom in" onClick={() => zoom(0.5)}>
          <Icon name="zoom-in" />
        </button>
        <button type="button" class="btn btn-quiet btn-sm" title={`Fit the selection, or the step, whichever was chosen last${workspace.keyHint("fit")}`} onClick={() => workspace.fit()}>
          Fit {store.span.value || workspace.latest.value === "selection" ? "selection" : "step"}
        </button>
        <button type="button" class="btn btn-quiet btn-sm" onClick={store.fitClip}>
          Fit clip
        </button>
      </div>
      <Overview workspace={workspace} />
      <div class="tl-body" ref={body}>
        <Lane kind="is-ruler" name="">
          <Ruler workspace={workspace} />
        </Lane>
        <Lane kind="is-film" name={<Title icon="film">Video</Title>}>
          <Filmstrip workspace={workspace} />
        </Lane>
        <Lane kind="is-wave" name={<Title icon="soundwave">Audio</Title>}>
          <Wave workspace={workspace} height={WAVE_HEIGHT} />
        </Lane>
        <Lane kind="is-events" name={<SoundHead workspace={workspace} />}>
          <Events workspace={workspace} />
        </Lane>
        <Lane kind="is-words" name={<Title icon="chat-square-text">Transcript</Title>}>
          <Transcript workspace={workspace} />
        </Lane>
        <SidesLane workspace={workspace} />
        <TrackRows workspace={workspace} />
        <Lane kind="is-steps" name={<Title icon="list-check">Reasoning steps</Title>}>
          <Steps workspace={workspace} />
        </Lane>
        <Over workspace={workspace} />
      </div>
    </section>
  );
}

const Lane = ({ kind, name, children }: { kind: string; name: ComponentChildren; children: ComponentChildren }) => (
  <div class={`tl-row ${kind}`}>
    <div class="tl-name">{name}</div>
    {children}
  </div>
);

const Title = ({ icon, children }: { icon: string; children: ComponentChildren }) => (
  <>
    <Icon name={icon} />
    <span class="title">{children}</span>
  </>
);

/** A sound marked while it plays: the same as the key, and how late a person presses it. */
function Record({ workspace }: { workspace: Workspace }) {
  const { store, recorder, settings } = workspace;
  const on = recorder.from.value !== null;
  return (
    <span class="tl-record">
      <button type="button" class="btn btn-quiet btn-sm" aria-pressed={on} disabled={!store.editable.value} title={`Record a sound while the clip plays: press where it begins and where it ends, or hold the key${workspace.keyHint("record")}`} onClick={() => recorder.down()}>
        <Icon name={on ? "stop-fill" : "music-note"} /> {on ? "End sound" : "Record"}
      </button>
      <label title="Both ends of a recorded sound are set back by this: the time between hearing it and pressing the key">
        <span class="visually-hidden">Reaction time in milliseconds</span>
        <input class="form-control form-control-sm num" type="number" min={0} max={MOST_REACTION_MS} step={10} value={settings.reactionMs.value} onChange={(event) => settings.setReaction(Number(event.currentTarget.value))} />
        <span aria-hidden="true">ms</span>
      </label>
    </span>
  );
}

/** Ends of all other spans, to snap to. */
const ends = (workspace: Workspace, without: string): number[] => {
  const { cot, events } = workspace.store.doc.peek();
  const spans: [string, number, number][] = [
    ...Object.values(events).map((event): [string, number, number] => [`event:${event.id}`, event.start_us, event.end_us]),
    ...(["visual", "audio"] as const).flatMap((step) => cot[step].timeframe.intervals.map(([start, end], k): [string, number, number] => [`step:${step}:${k}`, start, end])),
  ];
  return spans.filter(([key]) => key !== without).flatMap(([, start, end]) => [start, end]);
};

/** What is being recorded, up to where the clip plays. */
function Recording({ workspace }: { workspace: Workspace }) {
  const { store, player, recorder } = workspace;
  const shape = useRef<SVGRectElement>(null);
  useLayoutEffect(
    () =>
      effect(() => {
        const from = recorder.from.value;
        const view = store.view.value;
        const to = store.index.clipUs(player.frame.value);
        shape.current?.setAttribute("display", from === null ? "none" : "inline");
        if (from === null) return;
        shape.current?.setAttribute("x", String(toPx(view, from)));
        shape.current?.setAttribute("width", String(Math.max(2, toPx(view, to) - toPx(view, from))));
      }),
    [],
  );
  return <rect class="recording" ref={shape} y={2} height={20} rx={4} display="none" data-recording />;
}

function Events({ workspace }: { workspace: Workspace }) {
  const { store, actions } = workspace;
  const view = store.view.value;
  const chosen = store.selection.value?.id;
  const spans = store.events.value.map((event) => ({ event, start: event.start_us, end: event.end_us }));
  // Of thousands in sight only as many can be taken hold of as a hand can tell apart; zooming in gives the others.
  const { apart, crowd } = tellApart(view, spans, ({ event: { id } }) => id === chosen);
  return (
    <svg class="lane" width={view.width} height={24} role="group" aria-label="Sounds">
      <path class="span-crowd" aria-hidden="true" d={crowd.map(({ start, end }) => `M${toPx(view, start).toFixed(1)} 3h${Math.max(0.5, toPx(view, end) - toPx(view, start)).toFixed(1)}v18H${toPx(view, start).toFixed(1)}z`).join("")} />
      {apart.map(({ event, start, end }) => {
        const span: Span = { key: `event:${event.id}`, name: `sound ${event.label}`, start, end, top: 2, height: 20, kind: `is-event from-${event.source}`, selected: event.id === chosen, label: event.label };
        return (
          <SpanShape
            key={event.id}
            workspace={workspace}
            span={span}
            others={() => ends(workspace, span.key)}
            actions={{
              select: () => store.select({ kind: "event", id: event.id }),
              open: () => workspace.loop(),
              change: (_, [start_us, end_us]) => void actions.changeEvent(event, { start_us, end_us }, `Move sound ${event.label}`),
            }}
          />
        );
      })}
      <Recording workspace={workspace} />
    </svg>
  );
}

const STEP_TITLES: Record<Step, string> = { visual: "Visual cue", audio: "Audio cue" };

function Steps({ workspace }: { workspace: Workspace }) {
  const { store, actions } = workspace;
  const view = store.view.value;
  const { cot } = store.doc.value;
  return (
    <svg class="lane" width={view.width} height={52} role="group" aria-label="Timeframes of the reasoning steps">
      {(["visual", "audio"] as const).flatMap((step, row) => {
        const { timeframe } = cot[step];
        const intervals = timeframe.whole ? [[0, store.index.durationUs] as [number, number]] : timeframe.intervals;
        return intervals.map(([start, end], k) => {
          const span: Span = { key: `step:${step}:${k}`, name: `${STEP_TITLES[step].toLowerCase()}${intervals.length > 1 ? ` ${k + 1}` : ""}`, start, end, top: 3 + row * 25, height: 21, kind: `is-${step}`, selected: store.step.value === step, label: toPx(view, end) - toPx(view, start) < 84 ? (step === "visual" ? "Visual" : "Audio") : STEP_TITLES[step] + (timeframe.whole ? ", whole clip" : ""), fixed: timeframe.whole };
          return (
            <SpanShape
              key={span.key}
              workspace={workspace}
              span={span}
              others={() => ends(workspace, span.key)}
              actions={{
                select: () => workspace.chooseStep(step),
                open: () => store.fit([start, end]),
                change: (_, next) => void actions.setTimeframe(step, timeframe.intervals.map((one, at) => (at === k ? next : one))),
              }}
            />
          );
        });
      })}
      {workspace.suggestions.value.map(({ step, interval: [start, end] }) => {
        const [x0, x1] = [toPx(view, start), toPx(view, end)];
        if (x1 < 0 || x0 > view.width) return null;
        return (
          <g class={`span is-${step} is-suggested`} key={`${step}:${start}`} aria-hidden="true">
            <rect class="span-body" x={x0} y={3 + (step === "audio" ? 25 : 0)} width={Math.max(2, x1 - x0)} height={21} rx={4} />
          </g>
        );
      })}
    </svg>
  );
}

/** What lies over all lanes: the chosen stretch, the mark of "[", and the playhead. */
function Over({ workspace }: { workspace: Workspace }) {
  const { store, player } = workspace;
  const head = useRef<HTMLDivElement>(null);
  const stretch = useRef<HTMLDivElement>(null);
  const mark = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const stops = [
      effect(() => {
        const view = store.view.value;
        const frame = player.wanted.value ?? player.frame.value;
        const x = toPx(view, store.index.clipUs(frame));
        const element = head.current;
        if (!element) return;
        element.hidden = x < -1 || x > view.width + 1;
        element.style.transform = `translateX(${HEAD + x}px)`;
      }),
      effect(() => {
        const view = store.view.value;
        const span = store.span.value;
        const element = stretch.current;
        if (!element) return;
        const [x0, x1] = span ? [Math.max(0, toPx(view, span[0])), Math.min(view.width, toPx(view, span[1]))] : [0, 0];
        element.hidden = x1 <= x0;
        element.style.left = `${HEAD + x0}px`;
        element.style.width = `${Math.max(0, x1 - x0)}px`;
      }),
      effect(() => {
        const view = store.view.value;
        const at = store.mark.value;
        const element = mark.current;
        if (!element) return;
        const x = at === null ? -1 : toPx(view, at);
        element.hidden = at === null || x < 0 || x > view.width;
        element.style.left = `${HEAD + x}px`;
      }),
      // While it plays the view follows, a page at a time.
      effect(() => {
        const frame = player.frame.value;
        if (!player.playing.value) return;
        const view = store.view.peek();
        const x = toPx(view, store.index.clipUs(frame));
        if (x > view.width * 0.96 || x < 0) store.setView({ ...view, start: store.index.clipUs(frame) - view.width * view.scale * 0.06 });
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, []);
  return (
    <>
      <div class="tl-span" ref={stretch} hidden data-span-chosen />
      <div class="tl-mark" ref={mark} hidden />
      <div class="tl-playhead" ref={head} data-playhead>
        <svg width="12" height="14" aria-hidden="true">
          <path d="M0 0h12v8l-6 6-6-6z" />
        </svg>
      </div>
    </>
  );
}
