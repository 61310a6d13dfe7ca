import { describe, expect, it } from 'vitest'
import { receivedRequest, validHistory } from './compact-history.js'
import type { History } from './history.js'
import { checkHistory } from './oracle.js'

/** The rules that are violated. */
const violatedRules = (history: History) => [
  ...new Set(checkHistory(history).violations.map(({ rule }) => rule)),
]

describe('the oracle of the crash runs', () => {
  it('accepts a valid history, with a crash and the repetition it causes', () => {
    expect(checkHistory(validHistory()).violations).toEqual([])
    expect(checkHistory(validHistory()).counts).toMatchObject({ acknowledged: 3, duplicates: 1 })
  })

  /** The last event to `a` was sent once more on a new connection, answered `afterMs` after the first time, and sent again. */
  function repeated(afterMs: number): History {
    const history = validHistory()
    history.requests.splice(-2)
    const at = 4200 + afterMs * 1000
    const last = { webhook: 'a', index: 2, node: 2 }
    history.requests.push(
      { ...receivedRequest({ ...last, at: 4200 }), status: 0 },
      receivedRequest({ ...last, at }),
      receivedRequest({ ...last, at: at + 1000, attempt: 2 }),
    )
    return history
  }
  it('accepts that what is answered after the deadline of its attempt is sent again, and nothing that is answered before', () => {
    expect(checkHistory(repeated(1001)).violations).toEqual([])
    expect(violatedRules(repeated(900))).toEqual(['duplicate'])
    const named = repeated(1001)
    named.named = new Set(['account-0/a event-0-1'])
    expect(checkHistory(named).violations).toEqual([])
  })

  /** Node 1 was paused before it sent the second event to `a`, and sent it when it was resumed. */
  function resumed(): History {
    const history = validHistory()
    history.stops = [{ kind: 'stop', at: 1500, node: 1, how: 'paused', until: 1900 }]
    return history
  }
  it('accepts that a resumed node sends a claimed delivery before its next owner does', () => {
    const history = resumed()
    history.named = new Set(['account-0/a event-0-1'])
    expect(checkHistory(history).violations).toEqual([])
  })
  it('detects a repetition that no pause explains', () => {
    // It had not claimed the delivery when it was paused: its start is missing.
    expect(violatedRules(resumed())).toEqual(['duplicate'])
    const later = resumed()
    later.stops[0] = { ...later.stops[0]!, at: 5000, until: 5400 }
    later.named = new Set(['account-0/a event-0-1'])
    expect(violatedRules(later)).toEqual(['duplicate'])
  })

  /** The standby never got the last event, which nobody has received, and had one delivery again. */
  function failedOver(countedAsLost: number): History {
    const history = validHistory()
    const isLast = ({ index }: { readonly index: number }) => index === 2
    history.requests = history.requests.filter((request) => !isLast(request))
    for (const request of history.requests) Object.assign(request, { node: 1 })
    history.stops = []
    history.failover = {
      at: 3500,
      waiting: new Set(['account-0/a event-0-1']),
      lost: new Set(['event-0-2']),
      knowsHandOver: true,
    }
    history.countedLosses.push({ node: 1, lost: countedAsLost, returned: 1 })
    return history
  }
  it('accepts what a failover lost and had again, if the nodes have counted it', () => {
    // The owner of `b` had accepted the event itself, so had that of `a`.
    expect(checkHistory(failedOver(2)).violations).toEqual([])
    expect(violatedRules(failedOver(1))).toEqual(['uncounted'])
    expect(violatedRules(failedOver(3))).toEqual(['uncounted'])
  })
  it('expects no count of a node that lost its lease, or the shard, in the failover', () => {
    const fenced = failedOver(0)
    fenced.leases.push({ node: 1, fence: 1 }, { node: 1, fence: 2 })
    expect(checkHistory(fenced).violations).toEqual([])
    const moved = failedOver(1)
    for (const request of moved.requests) if (request.at > 3500) Object.assign(request, { node: 2 })
    expect(checkHistory(moved).violations).toEqual([])
    const unknown = failedOver(0)
    if (unknown.failover) unknown.failover.knowsHandOver = false
    expect(checkHistory(unknown).violations).toEqual([])
  })
  it('detects what a failover does not explain', () => {
    const history = failedOver(2)
    history.failover = { at: 3500, waiting: new Set(), lost: new Set(), knowsHandOver: true }
    expect(violatedRules(history)).toEqual(expect.arrayContaining(['lost', 'duplicate']))
  })

  const faults: Record<string, [rule: string, inject: (history: History) => void]> = {
    'an event that never reached one of two receivers': [
      'lost',
      (history) => {
        history.requests = history.requests.filter(
          ({ webhook, index }) => webhook.endsWith('/a') || index !== 2,
        )
      },
    ],
    'an event that arrived but was never answered with a success': [
      'lost',
      (history) => {
        for (const request of history.requests) if (request.index === 2) request.status = 500
      },
    ],
    'an unacknowledged event that reached only one of two receivers': [
      'lost',
      (history) => {
        history.publishes.push({ ...history.publishes[0]!, index: 3 })
        history.requests.push(receivedRequest({ webhook: 'a', index: 3, at: 5000, node: 2 }))
      },
    ],
    'an event that was never published': [
      'unexpected',
      (history) => {
        for (const webhook of ['a', 'b'])
          history.requests.push(receivedRequest({ webhook, index: 3, at: 5000, node: 2 }))
      },
    ],
    'an event of another account': [
      'unexpected',
      (history) => {
        const [request] = history.requests
        history.requests.push({ ...request!, webhook: 'account-1/a', delivery: 'foreign' })
      },
    ],
    'a body that changed between two requests': [
      'changed',
      (history) => {
        Object.assign(history.requests.at(-1)!, { body: 'another' })
      },
    ],
    'a key that became two events': [
      'identity',
      (history) => {
        history.acks.push({ ...history.acks[0]!, event: 'another', at: 4500 })
      },
    ],
    'an event that was sent to a webhook as two deliveries': [
      'identity',
      (history) => {
        history.requests.push({ ...history.requests.at(-1)!, delivery: 'another', at: 9000, doneAt: 9001 })
      },
    ],
    'an event that was sent before the previous one had ended': [
      'order',
      (history) => {
        const second = history.requests.find(({ webhook, index }) => webhook.endsWith('/a') && index === 1)
        second!.doneAt = 1e9
      },
    ],
    'an event that was sent again after the next one of its call': [
      'order',
      (history) => {
        const [request] = history.requests
        history.requests.push({ ...request!, at: 9000, doneAt: 9001, attempt: 2 })
      },
    ],
    'a sequence number that no receiver saw': [
      'order',
      (history) => {
        for (const step of [...history.requests, ...history.acks]) {
          if (step.index === 2) Object.assign(step, { sequence: 4 })
        }
      },
    ],
    'an event with a lower number than one acknowledged before it was published': [
      'order',
      (history) => {
        const numbers = [2, 1, 3]
        for (const step of [...history.requests, ...history.acks]) {
          Object.assign(step, { sequence: numbers[step.index] })
        }
      },
    ],
    'a repetition without a crash': [
      'duplicate',
      (history) => {
        history.stops = []
      },
    ],
    'a repetition by a terminated node': [
      'duplicate',
      (history) => {
        history.stops[0] = { ...history.stops[0]!, how: 'terminated', code: 0 }
      },
    ],
    'more repetitions than a crash explains': [
      'duplicate',
      (history) => {
        for (let call = 0; call < 11; call += 1) {
          const other = validHistory(call + 1)
          history.publishes.push(...other.publishes)
          history.acks.push(...other.acks)
          history.requests.push(...other.requests)
        }
      },
    ],
    'a repetition that no start of a stopped node names': [
      'unnamed',
      (history) => {
        history.named = new Set(['account-0/b event-0-1'])
      },
    ],
    'two requests of a delivery in flight at once': [
      'duplicate',
      (history) => {
        history.stops[0] = { ...history.stops[0]!, node: 3 }
        for (const request of history.requests) if (request.delivery.endsWith('/a/1')) request.status = 500
        history.requests.find(({ delivery }) => delivery.endsWith('/a/1'))!.doneAt = 1e9
      },
    ],
    'an attempt number that was used twice': [
      'attempts',
      (history) => {
        for (const request of history.requests) Object.assign(request, { attempt: 1 })
      },
    ],
    'a delivery quarantined after fewer than three crashes': [
      'undelivered',
      (history) => {
        const { delivery, webhook, event } = history.requests[0]!
        history.undelivered.push({ delivery, webhook, event, state: 'quarantined', reason: 'interrupted' })
      },
    ],
    'a publish that was refused without a reason': [
      'refused',
      (history) => {
        history.refusals.push({ ...history.publishes[0]!, kind: 'refusal', code: 'Internal' })
      },
    ],
    'a terminated node with an exit code other than 0': [
      'failed',
      (history) => {
        history.stops.push({ ...history.stops[0]!, node: 2, how: 'terminated', at: 9000, code: 7 })
      },
    ],
    'a last node that did not become idle': [
      'not idle',
      (history) => {
        history.notIdle = { node: 2, what: 'it makes no progress' }
      },
    ],
  }
  for (const [name, [rule, inject]] of Object.entries(faults)) {
    it(`detects ${name}`, () => {
      const history = validHistory()
      inject(history)
      expect(violatedRules(history)).toContain(rule)
    })
  }
})
