// Menu on a relation in what-if mode: four labels, or remove it.
import { useEffect, useRef } from "preact/hooks";
import type { RelationWord } from "../../lib/payload";
import { RELATION_ORDER, RELATION_WORDS, edgeName } from "../../lib/words";
import { Icon, RelationSample } from "../shared/parts";
import type { EdgeMenuState, Store } from "./store";

export function EdgeMenu({ store }: { store: Store }) {
  const menu = store.menu.value;
  return menu ? <OpenMenu key={menu.edge.key} store={store} menu={menu} /> : null;
}

const WIDTH = 210;
const HEIGHT = 216;

function OpenMenu({ store, menu }: { store: Store; menu: EdgeMenuState }) {
  const box = useRef<HTMLDivElement>(null);
  const { edge } = menu;
  const before = store.stored.byKey.get(edge.key)?.label ?? null;
  const items = (): HTMLElement[] => [...(box.current?.querySelectorAll<HTMLElement>("button") ?? [])];

  useEffect(() => {
    items().find((item) => item.getAttribute("aria-checked") === "true")?.focus();
    const outside = (event: Event): void => {
      if (!box.current?.contains(event.target as Node)) store.menu.value = null;
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, []);

  const onKeyDown = (event: KeyboardEvent): void => {
    const list = items();
    const at = list.indexOf(document.activeElement as HTMLElement);
    if (event.key === "Escape" || event.key === "Tab") store.closeMenu();
    else if (event.key === "ArrowDown") list[(at + 1) % list.length]?.focus();
    else if (event.key === "ArrowUp") list[(at - 1 + list.length) % list.length]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const choose = (label: RelationWord | null): void => {
    store.closeMenu();
    store.edit(edge, label);
  };
  const place = {
    left: `${Math.max(8, Math.min(menu.x, window.innerWidth - WIDTH - 8))}px`,
    top: `${Math.max(8, Math.min(menu.y, window.innerHeight - HEIGHT - 8))}px`,
    width: `${WIDTH}px`,
  };
  return (
    <div class="edge-menu" role="menu" aria-label={`Suppose for ${edgeName(edge.premises, edge.target)}`} ref={box} style={place} onKeyDown={onKeyDown}>
      <div class="edge-menu-title" aria-hidden="true">
        Suppose {edgeName(edge.premises, edge.target)} is
      </div>
      {RELATION_ORDER.map((label) => (
        <Item key={label} checked={edge.label === label} choose={() => choose(label)}>
          <RelationSample label={label} />
          {RELATION_WORDS[label]}
          {before === label && <span class="muted tiny">stored</span>}
        </Item>
      ))}
      <Item checked={edge.label === null} choose={() => choose(null)}>
        <Icon name="trash" />
        Not scored (remove)
        {before === null && <span class="muted tiny">stored</span>}
      </Item>
    </div>
  );
}

function Item({ checked, choose, children }: { checked: boolean; choose(): void; children: preact.ComponentChildren }) {
  return (
    <button type="button" role="menuitemradio" aria-checked={checked} tabIndex={-1} onClick={choose}>
      <span class="edge-menu-check">{checked && <Icon name="check-lg" />}</span>
      {children}
    </button>
  );
}
