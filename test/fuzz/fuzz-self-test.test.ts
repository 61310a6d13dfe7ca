/** Runs the fuzzer through a faulty server, to check that it finds each fault. */
import { describe, expect, it } from 'vitest'
import * as raw from '../adapters/http/raw.js'
import { SERVERS } from '../adapters/http/servers.js'
import { runEpoch, STEPS } from './epoch.js'
import { FAULT_INJECTORS } from './fault-injectors.js'

describe('the fuzzer', () => {
  it.each([
    ['500 for a header', /status 500/],
    ['an envelope without status', /status "undefined"/],
    ['no response', /no response while 100 later requests were answered/],
    ['a leaked secret', /leaks the secret "oooooooo…"/],
    ['a different body', /^fetch differs/],
  ])('notices %s', async (name, expectedMessage) => {
    const fault = { server: 'fetch', inject: FAULT_INJECTORS[name]! }
    const servers = { node: SERVERS.node, fetch: SERVERS.fetch }
    const messages: string[] = []
    for (let epoch = 0; epoch < 12 && messages.length === 0; epoch += 1) {
      const options = { seed: 'faults', epoch, steps: STEPS, servers, raw, fault, maxViolations: 1 }
      const { violations } = await runEpoch(options)
      messages.push(...violations.map(({ message }) => message))
    }
    expect(messages).toEqual(expect.arrayContaining([expect.stringMatching(expectedMessage)]))
    expect(messages.filter((message) => message.startsWith('node'))).toEqual([])
  })
})
