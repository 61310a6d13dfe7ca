/** The trace of a run: a hash that equal runs share, and the steps themselves if they are kept. */
export interface Trace {
  /** Records a step and the ids it concerns. */
  step(atMs: number, message: string, ...subjects: readonly string[]): void
  /** 16 hex digits. */
  hash(): string
  /** Steps that concern any of these ids, or all steps without ids; empty if steps are not kept. */
  stepsOf(...subjects: readonly string[]): readonly TraceStep[]
}

/** One step of a trace. */
export interface TraceStep {
  /** True time, ms. */
  readonly atMs: number
  /** What happened. */
  readonly message: string
  /** Ids it concerns. */
  readonly subjects: readonly string[]
}

/** @param keepsSteps keeps every step for `stepsOf`; costs memory, so a failed run is repeated with it */
export function createTrace(keepsSteps: boolean): Trace {
  const steps: TraceStep[] = []
  // Two 32-bit FNV-1a hashes with different primes: fast, and collisions by attack are no concern.
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
    step(atMs, message, ...subjects) {
      const micros = Math.round(atMs * 1000)
      left = Math.imul(left ^ (micros | 0), 0x01000193)
      right = Math.imul(right ^ ((micros / 4_294_967_296) | 0) ^ micros, 0x85ebca6b)
      mix(message)
      for (const subject of subjects) mix(subject)
      if (keepsSteps) steps.push({ atMs, message, subjects })
    },
    hash: () => hex(left) + hex(right),
    stepsOf: (...subjects) =>
      subjects.length === 0
        ? steps
        : steps.filter((step) => step.subjects.some((subject) => subjects.includes(subject))),
  }
}

const hex = (word: number) => (word >>> 0).toString(16).padStart(8, '0')
