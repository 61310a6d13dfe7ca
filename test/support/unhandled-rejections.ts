import { afterEach, beforeEach, expect } from 'vitest'

/**
 * Fails every test of the calling file that leaves an unhandled rejection or exception, which would end a host's process.
 *
 * @returns those of the current test
 */
export function expectNothingUnhandled(): readonly unknown[] {
  const unhandled: unknown[] = []
  const record = (reason: unknown) => void unhandled.push(reason)
  beforeEach(() => {
    unhandled.length = 0
    process.on('unhandledRejection', record).on('uncaughtException', record)
  })
  afterEach(async () => {
    // Node reports unhandled rejections after the microtasks of the turn.
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', record).off('uncaughtException', record)
    expect(unhandled).toEqual([])
  })
  return unhandled
}
