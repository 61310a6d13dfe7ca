import { describe, expect, it } from 'vitest'
import type { Ledger } from './ledger.js'
import { judge } from './oracle.js'
import { goodLedger, sight } from './small-ledger.js'

/** The rules that find something. */
const found = (ledger: Ledger) => [...new Set(judge(ledger).findings.map(({ rule }) => rule))]

describe('the oracle of the crash runs', () => {
  it('finds nothing where all is well, crash and repetition included', () => {
    expect(judge(goodLedger()).findings).toEqual([])
    expect(judge(goodLedger()).counts).toMatchObject({ acknowledged: 3, duplicates: 1 })
  })

  const faults: Record<string, [rule: string, fault: (ledger: Ledger) => void]> = {
    'an event that never arrived at one of two receivers': [
      'lost',
      (ledger) => {
        ledger.sights = ledger.sights.filter(({ webhook, index }) => webhook.endsWith('/a') || index !== 2)
      },
    ],
    'an event that arrived and was never answered with a success': [
      'lost',
      (ledger) => {
        for (const one of ledger.sights) if (one.index === 2) one.status = 500
      },
    ],
    'an event that nobody was told of and one of two receivers saw': [
      'lost',
      (ledger) => {
        ledger.tries.push({ ...ledger.tries[0]!, index: 3 })
        ledger.sights.push(sight({ webhook: 'a', index: 3, at: 5000, node: 2 }))
      },
    ],
    'an event that nobody published': [
      'invented',
      (ledger) => {
        for (const webhook of ['a', 'b']) ledger.sights.push(sight({ webhook, index: 3, at: 5000, node: 2 }))
      },
    ],
    'an event of another account': [
      'invented',
      (ledger) => {
        const [one] = ledger.sights
        ledger.sights.push({ ...one!, webhook: 'account-1/a', delivery: 'strange' })
      },
    ],
    'a body that changed between two requests': [
      'changed',
      (ledger) => {
        Object.assign(ledger.sights.at(-1)!, { body: 'another' })
      },
    ],
    'a key that became two events': [
      'two for one',
      (ledger) => {
        ledger.acks.push({ ...ledger.acks[0]!, event: 'another', at: 4500 })
      },
    ],
    'an event that went to a webhook as two deliveries': [
      'two for one',
      (ledger) => {
        ledger.sights.push({ ...ledger.sights.at(-1)!, delivery: 'another', at: 9000, doneAt: 9001 })
      },
    ],
    'an event that was sent before the one before it had ended': [
      'order',
      (ledger) => {
        const two = ledger.sights.find(({ webhook, index }) => webhook.endsWith('/a') && index === 1)
        two!.doneAt = 1e9
      },
    ],
    'an event that was sent again after the next one of its call': [
      'order',
      (ledger) => {
        const [one] = ledger.sights
        ledger.sights.push({ ...one!, at: 9000, doneAt: 9001, attempt: 2 })
      },
    ],
    'a number of a call that no receiver saw': [
      'order',
      (ledger) => {
        for (const one of [...ledger.sights, ...ledger.acks]) {
          if (one.index === 2) Object.assign(one, { sequence: 4 })
        }
      },
    ],
    'an event whose number is lower than that of one acknowledged before it was published': [
      'order',
      (ledger) => {
        const numbers = [2, 1, 3]
        for (const one of [...ledger.sights, ...ledger.acks]) {
          Object.assign(one, { sequence: numbers[one.index] })
        }
      },
    ],
    'a repetition without a crash': [
      'duplicate',
      (ledger) => {
        ledger.ends = []
      },
    ],
    'a repetition by a node that was asked to end': [
      'duplicate',
      (ledger) => {
        ledger.ends[0] = { ...ledger.ends[0]!, how: 'asked', code: 0 }
      },
    ],
    'more repetitions than one crash explains': [
      'duplicate',
      (ledger) => {
        for (let call = 0; call < 11; call += 1) {
          const sights = goodLedger(call + 1)
          ledger.tries.push(...sights.tries)
          ledger.acks.push(...sights.acks)
          ledger.sights.push(...sights.sights)
        }
      },
    ],
    'two requests of one delivery at once': [
      'duplicate',
      (ledger) => {
        ledger.ends[0] = { ...ledger.ends[0]!, node: 3 }
        for (const one of ledger.sights) if (one.delivery.endsWith('/a/1')) one.status = 500
        ledger.sights.find(({ delivery }) => delivery.endsWith('/a/1'))!.doneAt = 1e9
      },
    ],
    'an attempt whose number was used before': [
      'attempts',
      (ledger) => {
        for (const one of ledger.sights) Object.assign(one, { attempt: 1 })
      },
    ],
    'a delivery that was set aside although hardly a node died': [
      'given up',
      (ledger) => {
        const { delivery, webhook, event } = ledger.sights[0]!
        ledger.givenUp.push({ delivery, webhook, event, state: 'quarantined', reason: 'interrupted' })
      },
    ],
    'a publish that was refused without a reason': [
      'refused',
      (ledger) => {
        ledger.refusals.push({ ...ledger.tries[0]!, kind: 'no', code: 'Internal' })
      },
    ],
    'a node that did not end well': [
      'failed',
      (ledger) => {
        ledger.ends.push({ ...ledger.ends[0]!, node: 2, how: 'asked', at: 9000, code: 7 })
      },
    ],
    'a last node that did not come to rest': [
      'restless',
      (ledger) => {
        ledger.restless = { node: 2, what: 'it stands still' }
      },
    ],
  }
  for (const [name, [rule, fault]] of Object.entries(faults)) {
    it(`finds ${name}`, () => {
      const ledger = goodLedger()
      fault(ledger)
      expect(found(ledger)).toContain(rule)
    })
  }
})
