import { expect } from 'vitest'
import type { ModelFailure } from '../../../src/simulator/models/index.js'

/** The failure of a run, which must fail. `TRACES=1` prints it. */
export async function failureOf(check: Promise<void>): Promise<ModelFailure> {
  const failure = await check.then(
    () => {
      throw new Error('the model did not fail')
    },
    (thrown: unknown) => thrown as ModelFailure,
  )
  if (process.env.TRACES) process.stderr.write(`${failure.message}\n\n`)
  return failure
}

/** Expects numbered lines, one expected result, and the code that repeats the run. */
export function expectTrace({ name, message, seed, path }: ModelFailure): void {
  expect(name, message).toBe('ModelFailure')
  expect(message).toMatch(/^ {2}1\. /m)
  expect(message.match(/^ {5}expected: .+\n {5}actual: {3}.+$/gm), message).toHaveLength(1)
  expect(message).toContain(`check({ seed: ${seed}, path: "${path}" })`)
  expect(message.split('\n').length, message).toBeLessThan(40)
}

/** The numbered lines of the trace. */
export function stepsOf({ message }: ModelFailure): string[] {
  return message.split('\n').filter((line) => /^ *\d+\. /.test(line))
}
