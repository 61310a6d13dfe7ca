/** What happened in a run, as one number that two equal runs share, and on demand in words. */
export interface Trace {
  /** One step: what, and whom it concerns. */
  step(atMs: number, what: string, ...whom: readonly string[]): void
  /** As 16 hex digits. */
  hash(): string
  /** Steps that concern any of these, or all where none is named; empty where words are not kept. */
  story(...whom: readonly string[]): readonly TraceStep[]
}

export interface TraceStep {
  readonly atMs: number
  readonly what: string
  readonly whom: readonly string[]
}

/** @param keepsWords keeps every step for `story`: costs memory, so a run that failed is repeated with it */
export function newTrace(keepsWords: boolean): Trace {
  const steps: TraceStep[] = []
  // Two FNV-1a of 32 bits with different primes: cheap, and nobody attacks them.
  let left = 0x811c9dc5
  let right = 0x9747b28c

  function mix(text: string): void {
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index)
      left = Math.imul(left ^ code, 0x01000193)
      right = Math.imul(right ^ code, 0x85ebca6b)
    }
  }

  return {
    step(atMs, what, ...whom) {
      const micros = Math.round(atMs * 1000)
      left = Math.imul(left ^ (micros | 0), 0x01000193)
      right = Math.imul(right ^ ((micros / 4_294_967_296) | 0) ^ micros, 0x85ebca6b)
      mix(what)
      for (const name of whom) mix(name)
      if (keepsWords) steps.push({ atMs, what, whom })
    },
    hash: () => hex(left) + hex(right),
    story: (...whom) =>
      whom.length === 0 ? steps : steps.filter((step) => step.whom.some((name) => whom.includes(name))),
  }
}

const hex = (word: number) => (word >>> 0).toString(16).padStart(8, '0')
