import { afterEach, beforeEach, expect } from 'vitest'

/**
 * To be called once in a test file: none of its tests may leave a rejection or an exception that nobody handles, which
 * would end a host's process. What was seen in the test under way.
 */
export function nothingUnhandled(): readonly unknown[] {
  const unhandled: unknown[] = []
  const notice = (reason: unknown) => void unhandled.push(reason)
  beforeEach(() => {
    unhandled.length = 0
    process.on('unhandledRejection', notice).on('uncaughtException', notice)
  })
  afterEach(async () => {
    // Rejections are reported after the microtasks of the turn in which they were made.
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', notice).off('uncaughtException', notice)
    expect(unhandled).toEqual([])
  })
  return unhandled
}
