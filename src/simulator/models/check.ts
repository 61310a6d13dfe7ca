/** Runs a model as a fast-check property and formats its failures. */

import type * as FastCheck from 'fast-check'
import { MismatchError } from './command-trace.js'

/** fast-check 4 (`import fc from 'fast-check'`), passed as an argument so that this package does not depend on it. */
export type Fc = typeof FastCheck.default

/** Number of runs, or the run to repeat. */
export interface ModelRuns {
  /** Default 100. */
  readonly numRuns?: number
  /** Seed of a failure, from its message. */
  readonly seed?: number
  /** Path of a failure, from its message. */
  readonly path?: string
}

/** A model-based test: runs the real system beside a reference. */
export interface ModelTest {
  /** Name of the tested system, for the title of a test. */
  readonly name: string
  /** For `fc.assert` and `fc.check` with other parameters. */
  readonly property: FastCheck.IAsyncProperty<readonly unknown[]>
  /**
   * Runs the test.
   *
   * @throws ModelFailure with the shortest failing sequence of commands that was found
   */
  check(runs?: ModelRuns): Promise<void>
}

/** A failed run. The message is its trace: the commands, the failed one, and how to repeat the run. */
export class ModelFailure extends Error {
  constructor(
    message: string,
    /** fast-check's seed of the run. */
    readonly seed: number,
    /** fast-check's path to the shortest failing run. */
    readonly path: string,
    /** The error that was thrown, unless a result was wrong. */
    cause: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ModelFailure'
  }
}

/** @param replayCode code that creates the test, for the last line of a failure */
export function createModelTest(
  fc: Fc,
  name: string,
  replayCode: string,
  property: FastCheck.IAsyncProperty<readonly unknown[]>,
): ModelTest {
  return {
    name,
    property,
    async check(runs = {}) {
      const details = await fc.check(property, { ...runs })
      if (!details.failed) return
      const { seed, counterexamplePath: path, errorInstance: thrown, numShrinks } = details
      const lines =
        thrown instanceof MismatchError ? thrown.lines : [String((thrown as Error)?.stack ?? thrown)]
      const message = [
        `${name} differs from its reference (shortest trace, after ${numShrinks} shrinks):`,
        '',
        ...lines,
        '',
        `     repeat: ${replayCode}.check({ seed: ${seed}, path: ${JSON.stringify(path)} })`,
      ]
      const cause = thrown instanceof MismatchError ? undefined : thrown
      throw new ModelFailure(message.join('\n'), seed, path ?? '', cause)
    },
  }
}
