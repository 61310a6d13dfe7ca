import { type BlackholeOptions, blackhole } from 'hookswitch/blackhole'
import { describe, expect, it } from 'vitest'
import { loadWebSocketServer } from '../../../adapters/blackhole/load-ws.js'
import { checkBlackholeOptions } from '../../../adapters/blackhole/options.js'

const problemOf = (options: unknown) => {
  try {
    checkBlackholeOptions(options as BlackholeOptions)
  } catch (thrown) {
    const { code, field, message } = thrown as { code: string; field: string; message: string }
    return [code, field, message]
  }
  return undefined
}

describe('the options', () => {
  it('have the documented defaults', () => {
    expect(checkBlackholeOptions({})).toMatchObject({
      maxSockets: 1_000,
      maxSocketsPerAddress: 100,
      maxBindings: 200,
      maxFrameBytes: 65_536,
      maxBufferedBytes: 1_048_576,
      idleMs: 3_600_000,
    })
  })

  it('are checked, each error names one', () => {
    expect(problemOf(null)).toEqual([
      'InvalidOption',
      'options',
      'blackhole(): the options must be an object',
    ])
    expect(problemOf({ maxSocket: 1 })).toEqual([
      'InvalidOption',
      'maxSocket',
      "blackhole(): unknown option 'maxSocket' (did you mean 'maxSockets'?)",
    ])
    const names = [
      'maxSockets',
      'maxSocketsPerAddress',
      'maxBindings',
      'maxFrameBytes',
      'maxBufferedBytes',
      'idleMs',
    ]
    for (const name of names)
      for (const value of [0, -1, 1.5, '5', null, Number.NaN, 1e15])
        expect(problemOf({ [name]: value }), `${name} ${value}`).toEqual([
          'InvalidOption',
          name,
          expect.stringMatching(`^${name} must be an integer from `),
        ])
    expect(problemOf({ trustProxy: '10.0.0.0/8' })?.[1]).toBe('trustProxy')
    expect(problemOf({ trustProxy: ['10.0.0.0/40'] })?.[1]).toBe('trustProxy')
    expect(problemOf({ log: {} })?.[1]).toBe('log')
    expect(problemOf({ clock: { now: Date.now } })?.[1]).toBe('clock')
  })
})

describe('the package ws', () => {
  it('that is missing is named with its version', async () => {
    const loading = loadWebSocketServer(() => Promise.reject(new Error("Cannot find package 'ws'")))
    await expect(loading).rejects.toMatchObject({
      code: 'InvalidOption',
      field: 'blackhole',
      message: 'blackhole needs the package ws, version 8.17.1 or later: npm install ws',
    })
  })

  it('is loaded after the options are checked', async () => {
    await expect(blackhole({ watchEvents() {} } as never, { maxSockets: 0 })).rejects.toMatchObject({
      field: 'maxSockets',
    })
  })
})
