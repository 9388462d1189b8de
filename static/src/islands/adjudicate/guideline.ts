// The guideline cut into clauses at its headings, and the clause that the chosen reasons speak of.

export interface Clause {
  title: string;
  html: string;
  text: string;
}

/** The HTML comes from the server, which has made it harmless; it is only cut here. */
export function clausesOf(html: string): Clause[] {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  const clauses: Clause[] = [];
  for (const node of holder.content.children) {
    const last = clauses.at(-1);
    if (/^H[1-6]$/.test(node.tagName)) clauses.push({ title: node.textContent?.trim() ?? "", html: "", text: node.textContent ?? "" });
    else if (!last) clauses.push({ title: "Beginning", html: node.outerHTML, text: node.textContent ?? "" });
    else {
      last.html += node.outerHTML;
      last.text += ` ${node.textContent ?? ""}`;
    }
  }
  return clauses.filter((clause) => clause.html || clauses.length === 1);
}

/** Place of the first clause that says one of the words of the reasons; then the first one. */
export function clauseFor(clauses: readonly Clause[], words: readonly string[]): number {
  for (const word of words) {
    const at = clauses.findIndex((clause) => clause.text.toLowerCase().includes(word.toLowerCase()));
    if (at >= 0) return at;
  }
  return 0;
}
