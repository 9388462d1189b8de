// Pairs of the rows and columns of a table, each used once, with the largest sum: how scores pair the boxes of a frame. Pure.

/**
 * Returns [row, column] pairs in the order of the rows, as many as the shorter side has. Values are finite.
 *
 * The Hungarian method with potentials (Kuhn 1955; Munkres 1957): n² m steps for n rows and m >= n columns.
 */
export function bestPairs(table: readonly (readonly number[])[]): [row: number, column: number][] {
  const n = table.length;
  const m = table[0]?.length ?? 0;
  if (n === 0 || m === 0) return [];
  if (n > m) {
    const turned = Array.from({ length: m }, (_, column) => table.map((row) => row[column] as number));
    return bestPairs(turned).map(([column, row]): [number, number] => [row, column]).sort((a, b) => a[0] - b[0]);
  }
  // Counted from 1; column 0 holds the row that is being placed.
  const ofRow = new Float64Array(n + 1);
  const ofColumn = new Float64Array(m + 1);
  const rowAt = new Int32Array(m + 1);
  const cameFrom = new Int32Array(m + 1);
  const cost = (row: number, column: number): number => -(table[row - 1]?.[column - 1] as number);
  for (let row = 1; row <= n; row++) {
    rowAt[0] = row;
    const least = new Float64Array(m + 1).fill(Infinity);
    const done = new Uint8Array(m + 1);
    let at = 0;
    do {
      done[at] = 1;
      const here = rowAt[at] as number;
      let [step, next] = [Infinity, 0];
      for (let column = 1; column <= m; column++) {
        if (done[column]) continue;
        const reduced = cost(here, column) - (ofRow[here] as number) - (ofColumn[column] as number);
        if (reduced < (least[column] as number)) {
          least[column] = reduced;
          cameFrom[column] = at;
        }
        if ((least[column] as number) < step) [step, next] = [least[column] as number, column];
      }
      for (let column = 0; column <= m; column++) {
        if (done[column]) {
          ofRow[rowAt[column] as number] = (ofRow[rowAt[column] as number] as number) + step;
          ofColumn[column] = (ofColumn[column] as number) - step;
        } else least[column] = (least[column] as number) - step;
      }
      at = next;
    } while (rowAt[at] !== 0);
    while (at !== 0) {
      const before = cameFrom[at] as number;
      rowAt[at] = rowAt[before] as number;
      at = before;
    }
  }
  const pairs: [number, number][] = [];
  for (let column = 1; column <= m; column++) if (rowAt[column]) pairs.push([(rowAt[column] as number) - 1, column - 1]);
  return pairs.sort((a, b) => a[0] - b[0]);
}
