import type { ComponentChild, FunctionComponent } from "preact";
import { Component, h } from "preact";

/** A component that is drawn again only when `same` says that its properties differ. */
export function memo<P extends object>(draw: (props: P) => ComponentChild, same: (a: P, b: P) => boolean): FunctionComponent<P> {
  class Memo extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      return !same(this.props as P, next as P);
    }
    override render(): ComponentChild {
      return draw(this.props as P);
    }
  }
  return (props: P) => h(Memo as never, props as never);
}
