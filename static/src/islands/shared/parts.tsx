// Small parts that several islands draw: icons, chips, the legend of relation lines.
import type { ComponentChildren } from "preact";
import type { AuditWord, GoldWord, RelationWord } from "../../lib/payload";
import { AUDIT_WORDS, GOLD_WORDS } from "../../lib/words";

export function Icon({ name }: { name: string }) {
  return (
    <svg class="icon" aria-hidden="true">
      <use href={`${import.meta.env.BASE_URL}icons.svg#${name}`} />
    </svg>
  );
}

export function AuditChip({ label, large = false }: { label: AuditWord | null; large?: boolean }) {
  if (!label) {
    return (
      <span class={`chip context${large ? " chip-lg" : ""}`}>
        <Icon name="file-medical" />
        Context
      </span>
    );
  }
  const { word, icon } = AUDIT_WORDS[label];
  return (
    <span class={`chip ${label}${large ? " chip-lg" : ""}`}>
      <Icon name={icon} />
      {word}
    </span>
  );
}

export function GoldChip({ label }: { label: GoldWord }) {
  const { word, icon } = GOLD_WORDS[label];
  return (
    <span class={`chip ${label}`}>
      <Icon name={icon} />
      {word}
    </span>
  );
}

/** Dash pattern of a relation line: the line says the relation even without its colour. */
export const DASH: Record<RelationWord, string | undefined> = {
  entailment: undefined,
  implied: "5 3",
  contradiction: "1.5 2.5",
  neutral: "1 4",
};

export function RelationSample({ label }: { label: RelationWord }) {
  return (
    <svg width="26" height="8" aria-hidden="true" class={`rel-line ${label}`}>
      <path d="M0 4h26" stroke-dasharray={DASH[label]} />
    </svg>
  );
}

export function RelationLegend({ premise = false }: { premise?: boolean }) {
  return (
    <div class="legend">
      <span>
        <RelationSample label="entailment" />
        Entail
      </span>
      <span>
        <RelationSample label="implied" />
        Implied
      </span>
      <span>
        <RelationSample label="contradiction" />
        Contradiction ×
      </span>
      {premise && (
        <span>
          <svg width="12" height="12" aria-hidden="true" class="rel-line premise">
            <circle cx="6" cy="6" r="4" />
          </svg>
          premise
        </span>
      )}
    </div>
  );
}

/** Text with every segment name ("S5") set in bold. */
export function WithSegments({ text }: { text: string }) {
  const parts = text.split(/\b(S\d+)\b/);
  return <>{parts.map((part, k) => (k % 2 ? <b key={k}>{part}</b> : part))}</>;
}

export function Notice({ kind, icon, children }: { kind: string; icon: string; children: ComponentChildren }) {
  return (
    <div class={`notice ${kind}`} role={kind === "bad" ? "alert" : "status"}>
      <Icon name={icon} />
      <div class="grow">{children}</div>
    </div>
  );
}
