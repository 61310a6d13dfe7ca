import { expect } from 'vitest'
import type { ModelFailure } from '../../src/testkit/models/index.js'

/** What a run found; it must find something. `STORIES=1` prints it. */
export async function failureOf(check: Promise<void>): Promise<ModelFailure> {
  const failure = await check.then(
    () => {
      throw new Error('nothing was found')
    },
    (thrown: unknown) => thrown as ModelFailure,
  )
  if (process.env.STORIES) process.stderr.write(`${failure.message}\n\n`)
  return failure
}

/** A story has numbered lines, one expectation, and the way to see it again. */
export function expectStory({ name, message, seed, path }: ModelFailure): void {
  expect(name, message).toBe('ModelFailure')
  expect(message).toMatch(/^ {2}1\. /m)
  expect(message.match(/^ {5}expected: .+\n {5}seen: {5}.+$/gm), message).toHaveLength(1)
  expect(message).toContain(`check({ seed: ${seed}, path: "${path}" })`)
  expect(message.split('\n').length, message).toBeLessThan(40)
}

/** Its numbered lines. */
export function storyOf({ message }: ModelFailure): string[] {
  return message.split('\n').filter((line) => /^ *\d+\. /.test(line))
}
