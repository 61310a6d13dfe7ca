import { describe, expect, it } from 'vitest'
import { createConnector } from '../../src/send/connect.js'
import { createPacedStarts } from '../../src/send/paced-starts.js'
import { compileAddressPolicy } from '../../src/values/address-policy.js'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

describe('paced starts', () => {
  it('begin at once while there are few, and in order in later turns when there are many', async () => {
    const started: number[] = []
    const inTurn = createPacedStarts(2)
    for (const index of [0, 1, 2, 3, 4]) inTurn(() => started.push(index))
    expect(started).toEqual([0, 1])
    await nextTurn()
    expect(started).toEqual([0, 1, 2, 3])
    // What comes meanwhile does not overtake.
    inTurn(() => started.push(5))
    inTurn(() => started.push(6))
    await nextTurn()
    expect(started).toEqual([0, 1, 2, 3, 4, 5])
    await nextTurn()
    expect(started).toEqual([0, 1, 2, 3, 4, 5, 6])
    for (let turn = 0; turn < 3; turn++) await nextTurn()
    for (const index of [7, 8, 9]) inTurn(() => started.push(index))
    expect(started).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
    await nextTurn()
    expect(started).toHaveLength(10)
  })
})

describe('connections', () => {
  it('begin a few in each turn; one that is aborted before its turn does not begin', async () => {
    const resolved: string[] = []
    const connect = createConnector({
      addressPolicy: compileAddressPolicy({ allowLocal: false, allow: [] }),
      resolver: {
        resolve(hostname) {
          resolved.push(hostname)
          return new Promise(() => {})
        },
        close() {},
      },
      onSocket() {},
    })
    const hosts = Array.from({ length: 20 }, (_, index) => `r${index}.example`)
    const aborts = hosts.map((hostname) =>
      connect(
        { hostname, port: 443, secure: true },
        1_000,
        { phase: 'name', dialled: 'unresolved' },
        () => {},
      ),
    )
    expect(resolved).toEqual(hosts.slice(0, 8))
    aborts[9]!()
    await nextTurn()
    expect(resolved).toEqual(hosts.slice(0, 16).filter((host) => host !== 'r9.example'))
    await nextTurn()
    expect(resolved).toHaveLength(19)
  })
})
