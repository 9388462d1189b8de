// On the left: the clip, the question, the right answer and what the reference cites.
import { useEffect, useRef } from "preact/hooks";
import { Icon, Notice } from "../shared/parts";
import { Cues } from "./cues";
import type { Clip as ClipText } from "./types";
import type { Workspace } from "./workspace";

export function Item({ workspace }: { workspace: Workspace }) {
  const { store, player } = workspace;
  const item = store.item.value;
  return (
    <>
      <div class="pane-head">
        <h2>Clip and question</h2>
      </div>
      {item && (
        <div class="pane-body">
          {/* The same element while several answers to one question are read: the clip stays where it is. */}
          <Clip key={store.place.value[1]} clip={item.clip} workspace={workspace} />
          <p class="rate-question chain-text">{item.question}</p>
          {item.options.length > 0 && (
            <ul class="rate-options">
              {item.options.map((option, k) => (
                <li key={k}>{option}</li>
              ))}
            </ul>
          )}
          <h3>Right answer</h3>
          <p class="chain-text">{item.final_answer || "None is given."}</p>
          <h3>Reference</h3>
          {item.cues.length ? <Cues cues={item.cues} player={player} durationUs={item.clip.duration_us} /> : <p class="muted">The reference cites nothing but its answer.</p>}
        </div>
      )}
    </>
  );
}

function Clip({ clip, workspace }: { clip: ClipText; workspace: Workspace }) {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    workspace.player.attach(video.current);
    if (clip.preparing) void workspace.prepare();
    return () => workspace.player.attach(null);
  }, [clip.media, clip.why]);
  if (clip.why) {
    return (
      <Notice kind={clip.preparing ? "info" : "bad"} icon={clip.preparing ? "hourglass-split" : "exclamation-triangle"}>
        <p>
          {clip.why} {clip.preparing ? "It appears here by itself." : "Set the answer aside (S) if you cannot judge it without the clip."}
        </p>
      </Notice>
    );
  }
  return (
    <>
      <video class="rate-clip" ref={video} src={clip.media} controls preload="metadata" playsInline aria-label={clip.title} />
      {!clip.has_audio && (
        <p class="muted small rate-silent">
          <Icon name="volume-mute" /> This clip has no sound.
        </p>
      )}
    </>
  );
}
