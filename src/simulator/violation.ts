/** A broken invariant. */
export interface Violation {
  /** `I1` … `I30`. */
  readonly invariant: string
  /** One sentence. */
  readonly message: string
  /** Ids whose trace steps explain it. */
  readonly subjects: readonly string[]
  /** True time, ms. */
  readonly atMs: number
}

/** Collects violations, the first five of each invariant: one defect can break an invariant thousands of times. */
export interface ViolationLog {
  readonly list: readonly Violation[]
  add(invariant: string, atMs: number, message: string, ...subjects: readonly string[]): void
}

const MAX_PER_INVARIANT = 5

export function createViolationLog(): ViolationLog {
  const list: Violation[] = []
  const counts = new Map<string, number>()
  return {
    list,
    add(invariant, atMs, message, ...subjects) {
      const count = (counts.get(invariant) ?? 0) + 1
      counts.set(invariant, count)
      if (count <= MAX_PER_INVARIANT) list.push({ invariant, message, subjects, atMs })
    },
  }
}
