import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** Width of an element in whole pixels, kept up to date; `fallback` until it is measured. */
export function useWidth<E extends HTMLElement>(fallback: number) {
  const ref = useRef<E>(null);
  const [width, setWidth] = useState(fallback);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const measure = (): void => {
      const next = Math.floor(element.clientWidth);
      if (next > 0) setWidth(next);
    };
    measure();
    const observer = new ResizeObserver(() => requestAnimationFrame(measure));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { ref, width };
}
