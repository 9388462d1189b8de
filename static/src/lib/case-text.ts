// Texts of a case that stand in it more than once. Pure.

const plain = (text: string): string => text.replace(/\s+/g, " ").trim();

/** Whether the question is to be shown beside the parts of a case: many data sets have it as a part already. */
export const asksApart = (sections: readonly (readonly [heading: string, text: string])[], question: string): boolean =>
  plain(question) !== "" && !sections.some(([, text]) => plain(text) === plain(question));
