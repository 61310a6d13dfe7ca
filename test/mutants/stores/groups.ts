import type { AcceptanceResult, Group, Polled, Start } from '../../../src/delivery/queue-store.js'
import { HookswitchError } from '../../../src/errors.js'
import {
  accepted,
  faultsOf,
  lastLease,
  onAcceptance,
  onCommitted,
  onGroup,
  STORE_MODEL,
  type StoreFault,
  versionOf,
} from './store-fault.js'

const refused: AcceptanceResult = { kind: 'refused', error: new HookswitchError('NotFound', 'refused') }
const nothing = { accepted: [], ended: [], finished: [] } as const

function withoutStarts({ starting: _none, ...group }: Group): Group {
  return group
}

const acceptFault = faultsOf('accept', 'deliveries')
const numberFault = faultsOf('numbers and idempotency keys', 'deliveries')
const groupFault = faultsOf('groups', 'deliveries', [STORE_MODEL])
const repeatFault = faultsOf('repeated groups', 'deliveries', [STORE_MODEL])

/** Defects of acceptances. */
export const brokenAcceptances: readonly StoreFault[] = [
  acceptFault(
    'the encoding of a body is not stored',
    onAcceptance((acceptance) => ({
      ...acceptance,
      deliveries: acceptance.deliveries.map((row) => ({ ...row, encoding: 'json' as const })),
    })),
  ),
  acceptFault(
    'a delivery is due one second after its acceptance',
    (store) => ({
      async load(...args) {
        const part = await store.load(...args)
        part?.waiting.dueMs.forEach((_, row, column) => {
          column[row] = 1
        })
        return part
      },
    }),
    [STORE_MODEL],
  ),
  acceptFault(
    'events without deliveries are not accepted',
    onCommitted((result, group) => ({
      ...result,
      accepted: result.accepted.map((acceptance, index) =>
        group.accepted[index]!.deliveries.length === 0 ? refused : acceptance,
      ),
    })),
  ),
  acceptFault(
    'all webhooks get the first body',
    onAcceptance((acceptance) => ({
      ...acceptance,
      deliveries: acceptance.deliveries.map((row) => ({ ...row, variant: 0 })),
    })),
  ),
  acceptFault('the events of an acceptance are numbered backwards', (store) => ({
    commit: (group) =>
      store.commit({
        ...group,
        accepted: group.accepted.map((acceptance) => ({
          ...acceptance,
          events: acceptance.events.toReversed(),
        })),
      }),
  })),
  acceptFault('a delivery that has ended cannot be replayed', (store) => ({
    async commit(group) {
      const bare = await Promise.all(
        group.accepted.map(async (acceptance) => {
          const [first] = acceptance.deliveries
          if (first?.replayOf === undefined) return acceptance
          const old = await store.delivery(first.accountId, first.replayOf)
          return old?.state === 'waiting' ? acceptance : { ...acceptance, deliveries: [] }
        }),
      )
      return store.commit({ ...group, accepted: bare })
    },
  })),
  acceptFault(
    'an event has one replay to a webhook',
    onAcceptance((acceptance) => ({
      ...acceptance,
      deliveries: acceptance.deliveries.filter(
        (row, index) =>
          acceptance.deliveries.findIndex(({ webhookId }) => webhookId === row.webhookId) === index,
      ),
    })),
  ),
  acceptFault('readers see the lane of a call for every delivery', (store) => ({
    async delivery(accountId, id) {
      const row = await store.delivery(accountId, id)
      return row && { ...row, lane: `${row.eventAccountId}/${row.callId}` }
    },
  })),
  acceptFault('a delivery is found only by 32 hex digits', (store) => ({
    delivery: async (accountId, id) =>
      /^[0-9a-f]{32}$/.test(id) ? store.delivery(accountId, id) : undefined,
  })),
  acceptFault('a delivery to an unknown webhook is left out', (store) => ({
    async commit(group) {
      const known = await Promise.all(
        group.accepted.map(async (acceptance) => {
          const webhooks = await Promise.all(
            acceptance.deliveries.map(({ webhookId }) => store.webhookOf(webhookId)),
          )
          return { ...acceptance, deliveries: acceptance.deliveries.filter((_, index) => webhooks[index]) }
        }),
      )
      return store.commit({ ...group, accepted: known })
    },
  })),
  acceptFault(
    'an acceptance with a taken id is confirmed',
    onCommitted((result, group) => ({
      ...result,
      accepted: result.accepted.map((acceptance, index) =>
        acceptance.kind === 'refused' && acceptance.error.field === 'id'
          ? accepted(group.accepted[index]!)
          : acceptance,
      ),
    })),
  ),
]

function withoutKey<Event extends { readonly idempotency?: unknown }>({
  idempotency: _none,
  ...event
}: Event) {
  return event as Event
}

/** Defects of sequence numbers and idempotency keys. */
export const brokenNumbers: readonly StoreFault[] = [
  numberFault(
    'a result has another number than the stored event',
    onCommitted((result) => ({
      ...result,
      accepted: result.accepted.map((acceptance) =>
        acceptance.kind === 'refused'
          ? acceptance
          : {
              ...acceptance,
              events: acceptance.events.map((event) => ({ ...event, sequence: event.sequence + 1 })),
            },
      ),
    })),
    [STORE_MODEL],
  ),
  numberFault('the acceptances of a group are numbered backwards', (store) => ({
    async commit(group) {
      const result = await store.commit({ ...group, accepted: group.accepted.toReversed() })
      return result.kind === 'committed' ? { ...result, accepted: result.accepted.toReversed() } : result
    },
  })),
  numberFault('bodies have the number 1', (store) => ({
    bodies: async (keys) =>
      (await store.bodies(keys)).map(
        (claim) => claim && { ...claim, body: claim.body.replace(/"sequence":\d+/, '"sequence":1') },
      ),
  })),
  numberFault('the events of a refused acceptance are written', (store) => ({
    async commit(group) {
      const result = await store.commit(group)
      if (result.kind !== 'committed') return result
      for (const [index, acceptance] of result.accepted.entries()) {
        if (acceptance.kind === 'accepted') continue
        const { events } = group.accepted[index]!
        const [first] = events
        if (first)
          await store.commit({
            ...withoutStarts(group),
            ...nothing,
            accepted: [{ ...group.accepted[index]!, events: [first], deliveries: [] }],
          })
      }
      return result
    },
  })),
  numberFault('the first number of a refused acceptance is lost', (store) => ({
    async commit(group) {
      const lost = group.accepted.filter(({ deliveries }) =>
        deliveries.some(({ webhookId }) => webhookId === 'unknown'),
      )
      await store.commit({
        ...withoutStarts(group),
        ...nothing,
        accepted: lost.map((acceptance) => ({ ...acceptance, deliveries: [] })),
      })
      return store.commit(group)
    },
  })),
  numberFault(
    'a duplicate takes the deliveries of the whole acceptance with it',
    (store) => {
      const used = new Set<string>()
      return onAcceptance((acceptance) => {
        const keys = acceptance.events.flatMap(({ accountId, idempotency }) =>
          idempotency ? [`${accountId}/${idempotency.key}`] : [],
        )
        const hasUsed = keys.some((key) => used.has(key))
        for (const key of keys) used.add(key)
        return hasUsed ? { ...acceptance, deliveries: [] } : acceptance
      })(store)
    },
    [STORE_MODEL],
  ),
  numberFault('a key of one account is used in all accounts', (store) => {
    const accounts = new Map<string, string>()
    return onCommitted((result, group) => ({
      ...result,
      accepted: result.accepted.map((acceptance, index) => {
        const [event] = group.accepted[index]!.events
        if (acceptance.kind === 'refused' || !event?.idempotency) return acceptance
        const first = accounts.get(event.idempotency.key) ?? event.accountId
        accounts.set(event.idempotency.key, first)
        return first === event.accountId
          ? acceptance
          : { ...acceptance, events: acceptance.events.map((known) => ({ ...known, duplicate: true })) }
      }),
    }))(store)
  }),
  numberFault(
    'idempotency keys are compared without case',
    onAcceptance((acceptance) => ({
      ...acceptance,
      events: acceptance.events.map((event) =>
        event.idempotency
          ? { ...event, idempotency: { ...event.idempotency, key: event.idempotency.key.toLowerCase() } }
          : event,
      ),
    })),
  ),
  numberFault(
    'the keys of one acceptance are not compared with each other',
    onAcceptance((acceptance) => ({
      ...acceptance,
      events: acceptance.events.map((event, index) => (index === 0 ? event : withoutKey(event))),
    })),
  ),
  numberFault(
    'the keys of one group are not compared with each other',
    onGroup((group) => ({
      ...group,
      accepted: group.accepted.map((acceptance, index) =>
        index === 0 ? acceptance : { ...acceptance, events: acceptance.events.map(withoutKey) },
      ),
    })),
    [STORE_MODEL],
  ),
  numberFault(
    'a key is remembered 1 ms too long',
    onAcceptance((acceptance) => ({
      ...acceptance,
      events: acceptance.events.map((event) =>
        event.idempotency
          ? { ...event, idempotency: { ...event.idempotency, untilMs: event.idempotency.untilMs + 1 } }
          : event,
      ),
    })),
    [STORE_MODEL],
  ),
]

/** Defects of groups as a whole. */
export const brokenGroups: readonly StoreFault[] = [
  groupFault('an empty group is outdated', (store) => ({
    async commit(group) {
      const isEmpty = group.accepted.length + group.ended.length + group.finished.length === 0
      return isEmpty && !group.starting ? { kind: 'outdated' } : store.commit(group)
    },
  })),
  groupFault('starts are applied before acceptances', (store) => ({
    async commit(group) {
      const started = await store.commit({ ...group, ...nothing })
      if (started.kind !== 'committed') return started
      const result = await store.commit(withoutStarts(group))
      return result.kind === 'committed' ? { ...result, notStarted: started.notStarted } : result
    },
  })),
  groupFault('a refused acceptance refuses those after it', (store) => ({
    async commit(group) {
      const results: AcceptanceResult[] = []
      for (const acceptance of group.accepted) {
        if (results.some(({ kind }) => kind === 'refused')) {
          results.push(refused)
          continue
        }
        const result = await store.commit({ ...withoutStarts(group), ...nothing, accepted: [acceptance] })
        if (result.kind !== 'committed') return result
        results.push(...result.accepted)
      }
      const result = await store.commit({ ...group, accepted: [] })
      return result.kind === 'committed' ? { ...result, accepted: results } : result
    },
  })),
  groupFault('a fenced settlement refuses the acceptances of its group', (store) => ({
    async commit(group) {
      const ended = await store.commit({ ...withoutStarts(group), accepted: [] })
      if (ended.kind !== 'committed') return ended
      if (ended.ended.some(({ kind }) => kind === 'fenced')) {
        return { ...ended, accepted: group.accepted.map(() => refused) }
      }
      const result = await store.commit({ ...group, ended: [], finished: [], version: ended.version })
      return result.kind === 'committed' ? { ...result, ended: ended.ended } : result
    },
  })),
  groupFault(
    'fences are not compared',
    (store) => {
      const { methods, current } = lastLease(store)
      return {
        ...methods,
        commit: async (group) =>
          group.lease
            ? store.commit({ ...group, lease: current(), version: await versionOf(store, current()) })
            : store.commit(group),
      }
    },
    ['ownership', 'several nodes'],
  ),
  ...(['fenced', 'outdated'] as const).map((kind) =>
    groupFault(`a group that is ${kind} still accepts`, (store) => ({
      async commit(group) {
        const result = await store.commit(group)
        const { accepted } = group
        if (result.kind === kind)
          await store.commit({ ...withoutStarts(group), ...nothing, accepted, lease: undefined })
        return result
      },
    })),
  ),
  groupFault(
    'versions are not compared',
    (store) => ({
      async commit(group) {
        const result = await store.commit(group)
        if (result.kind !== 'outdated') return result
        return store.commit({ ...group, version: await versionOf(store, group.lease!) })
      },
    }),
    ['changes'],
  ),
  groupFault('a node polls what it has', (store) => ({
    async poll(lease) {
      const polled = await store.poll(lease)
      const part = await store.load(
        lease,
        Array.from({ length: 64 }, (_, shard) => shard),
      )
      return polled && part && { ...polled, waiting: part.waiting, webhooks: part.webhooks }
    },
  })),
  groupFault('incoming deliveries that ended are returned', (store) => {
    const { methods, current } = lastLease(store)
    let early: Polled | undefined
    return {
      ...methods,
      async commit(group) {
        const result = await store.commit(group)
        if (!group.lease) early = await store.poll(current())
        return result
      },
      async poll(lease) {
        const polled = early ?? (await store.poll(lease))
        early = undefined
        return polled
      },
    }
  }),
]

/** Defects of repeated groups. */
export const brokenRepeats: readonly StoreFault[] = [
  repeatFault(
    'a repeated group is a new group',
    onGroup((group) => ({ ...group, isRepeat: false })),
    ['I17'],
    { options: { minutes: 10, faults: ['store unheard'] } },
  ),
  repeatFault(
    'a repeated group refuses nothing',
    onCommitted((result, group) => ({
      ...result,
      accepted: group.isRepeat
        ? result.accepted.map((acceptance, index) =>
            acceptance.kind === 'refused' ? accepted(group.accepted[index]!) : acceptance,
          )
        : result.accepted,
    })),
  ),
  repeatFault(
    'the events of a repeated group are duplicates of themselves',
    onCommitted((result, group) => ({
      ...result,
      accepted: result.accepted.map((acceptance) =>
        acceptance.kind === 'refused' || !group.isRepeat
          ? acceptance
          : { ...acceptance, events: acceptance.events.map((event) => ({ ...event, duplicate: true })) },
      ),
    })),
  ),
  repeatFault(
    'every repeated settlement is settled',
    onCommitted((result, group) => ({
      ...result,
      ended: group.isRepeat ? result.ended.map(() => ({ kind: 'settled' as const })) : result.ended,
    })),
  ),
  repeatFault('a repeated settlement disables the webhook again', (store, { webhooks }) => ({
    async commit(group) {
      const result = await store.commit(group)
      const change = group.ended.find(({ endpoint }) => endpoint?.disable)
      const webhook = change && (await store.webhookOf(change.webhookId))
      if (group.isRepeat && webhook && result.kind === 'committed') {
        const { revision, epoch } = webhook
        await webhooks.replace({ ...webhook, revision: revision + 1, epoch: epoch + 1 }, revision)
      }
      return result
    },
  })),
  repeatFault('a repeated group starts nothing', (store) => ({
    async commit(group) {
      const result = await store.commit(group)
      if (result.kind !== 'committed' || !group.isRepeat) return result
      return { ...result, notStarted: (group.starting?.deliveries ?? []).map((_: Start, index) => index) }
    },
  })),
  repeatFault(
    'starts are never forgotten',
    onGroup((group) => ({ ...group, finished: [] })),
    ['starts'],
  ),
]
