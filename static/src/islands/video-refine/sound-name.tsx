// The head of the sounds' lane: what the selected sound is called, to be changed in place.
import { Icon } from "../shared/parts";
import type { Workspace } from "./workspace";

const LONGEST = 200;

export function SoundHead({ workspace }: { workspace: Workspace }) {
  const { store, actions } = workspace;
  const event = store.selectedEvent.value;
  const rename = (field: HTMLInputElement): void => {
    const label = field.value.trim();
    if (!event || !label || !actions.changeEvent(event, { label }, `Rename sound ${event.label} to ${label}`.slice(0, LONGEST))) field.value = event?.label ?? "";
  };
  return (
    <>
      <Icon name="music-note" />
      {event && store.editable.value ? (
        <input
          key={event.id}
          class="form-control form-control-sm"
          aria-label="Name of the sound"
          value={event.label}
          maxLength={LONGEST}
          onChange={(change) => rename(change.currentTarget)}
          onKeyDown={(key) => {
            if (key.key === "Enter") key.currentTarget.blur();
          }}
        />
      ) : (
        <>
          <span class="title">Sounds</span>
          {event && <span class="end clip">{event.label}</span>}
        </>
      )}
    </>
  );
}
