import type * as FastCheck from 'fast-check'
import { StoryError } from './story.js'

/** fast-check 4, as `import fc from 'fast-check'` gives it: an argument, so that the testkit needs none of its own. */
export type Fc = typeof FastCheck.default

/** How many runs, and which. */
export interface ModelRuns {
  /** Default 100. */
  readonly numRuns?: number
  /** Of a failure, to see it again: both are in its message. */
  readonly seed?: number
  readonly path?: string
}

/** A model with the real thing beside it: run by `check`, or by fast-check itself. */
export interface ModelTest {
  /** What is tested, for the name of a test. */
  readonly name: string
  /** For `fc.assert` and `fc.check` with parameters of the host's own. */
  readonly property: FastCheck.IAsyncProperty<readonly unknown[]>
  /** Runs it. Rejects with a story: what was done, the command that failed, and how to see it again. */
  check(runs?: ModelRuns): Promise<void>
}

/** A failed run: its `message` is the story of the shortest run that was found. */
export class ModelFailure extends Error {
  constructor(
    message: string,
    readonly seed: number,
    readonly path: string,
    /** What was thrown, where that was no wrong answer. */
    cause: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ModelFailure'
  }
}

/** @param replayed how the test is called, for the last line of a failure */
export function modelTest(
  fc: Fc,
  name: string,
  replayed: string,
  property: FastCheck.IAsyncProperty<readonly unknown[]>,
): ModelTest {
  return {
    name,
    property,
    async check(runs = {}) {
      const details = await fc.check(property, { ...runs })
      if (!details.failed) return
      const { seed, counterexamplePath: path, errorInstance: thrown, numShrinks } = details
      const lines = thrown instanceof StoryError ? thrown.lines : [String((thrown as Error)?.stack ?? thrown)]
      const message = [
        `${name} is not what its model is (the shortest story after ${numShrinks} shortenings):`,
        '',
        ...lines,
        '',
        `     again: ${replayed}.check({ seed: ${seed}, path: ${JSON.stringify(path)} })`,
      ]
      const cause = thrown instanceof StoryError ? undefined : thrown
      throw new ModelFailure(message.join('\n'), seed, path ?? '', cause)
    },
  }
}
