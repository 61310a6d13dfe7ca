/** A broken invariant: which, what happened, and to whom. */
export interface Finding {
  /** `I1` … `I29`, as the proof numbers them. */
  readonly invariant: string
  /** One sentence. */
  readonly what: string
  /** Ids whose story explains it. */
  readonly whom: readonly string[]
  /** True time, ms. */
  readonly atMs: number
}

/** Takes findings; a broken run breaks much, so only the first of each invariant are kept. */
export interface Findings {
  readonly list: readonly Finding[]
  add(invariant: string, atMs: number, what: string, ...whom: readonly string[]): void
}

const MOST_OF_EACH = 5

export function newFindings(): Findings {
  const list: Finding[] = []
  const counts = new Map<string, number>()
  return {
    list,
    add(invariant, atMs, what, ...whom) {
      const count = (counts.get(invariant) ?? 0) + 1
      counts.set(invariant, count)
      if (count <= MOST_OF_EACH) list.push({ invariant, what, whom, atMs })
    },
  }
}
