import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** Width of an element in whole pixels, kept up to date; `fallback` until it is measured. */
export function useWidth<E extends HTMLElement>(fallback: number) {
  const ref = useRef<E>(null);
  const [width, setWidth] = useState(fallback);
  useMeasured(ref, (element) => {
    const next = Math.floor(element.clientWidth);
    if (next > 0) setWidth(next);
  });
  return { ref, width };
}

/** The same for width and height. */
export function useSize<E extends HTMLElement>(fallback: { width: number; height: number }) {
  const ref = useRef<E>(null);
  const [size, setSize] = useState(fallback);
  useMeasured(ref, (element) => {
    const [width, height] = [Math.floor(element.clientWidth), Math.floor(element.clientHeight)];
    if (width > 0 && height > 0) setSize((now) => (now.width === width && now.height === height ? now : { width, height }));
  });
  return { ref, ...size };
}

function useMeasured<E extends HTMLElement>(ref: RefObject<E | null>, measure: (element: E) => void): void {
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    measure(element);
    const observer = new ResizeObserver(() => requestAnimationFrame(() => measure(element)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
}
