import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** A modal dialog that gives the focus back to where it was. Esc asks `close`; what that does is up to the caller. */
export function Dialog({ title, wide = false, close, children }: { title: string; wide?: boolean; close: () => void; children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null);
  // Before anybody can see it or press a key: a key pressed in between would go to what lies behind.
  useLayoutEffect(() => {
    const dialog = element.current;
    const before = document.activeElement as HTMLElement | null;
    if (dialog && !dialog.open) dialog.showModal();
    return () => {
      dialog?.close();
      if (before?.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog
      class={`sheet${wide ? " sheet-wide" : ""}`}
      aria-label={title}
      ref={element}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
    >
      <div class="sheet-head">
        <h2>{title}</h2>
      </div>
      <div class="sheet-body">{children}</div>
    </dialog>
  );
}
