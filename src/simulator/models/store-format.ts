import type { AcceptanceCall, DeliveryCall, GroupCall, SettlementCall, StoreCall } from './store-calls.js'

/** Formats a call as a sentence of the trace. */
export function formatCall(call: StoreCall): string {
  switch (call.do) {
    case 'own':
      return `${call.owner} takes the shards`
    case 'renew':
      return `${call.owner} renews its lease`
    case 'own too early':
      return `${call.owner} calls own during the lease of another node`
    case 'release':
      return `${call.owner} releases its shards`
    case 'hand over':
      return `${call.lease.owner} hands over shards ${call.shards}`
    case 'commit':
      return formatGroup(call)
    case 'load':
    case 'inspect':
      return `${call.lease.owner} loads its shards`
    case 'complete the takeover':
      return `${call.lease.owner} completes the takeover`
    case 'poll':
      return `${call.lease.owner} polls`
    case 'changes':
      return `${call.lease.owner} reads the changes since version ${call.since}`
    case 'bodies':
      return `read the bodies of ${call.ids.join(', ')}`
    case 'insert':
      return `create webhook ${call.webhook.id}`
    case 'replace': {
      const { id, name, uri, enabled, deleted, revision } = call.webhook
      const next = deleted
        ? 'deleted'
        : `${enabled ? 'enabled' : 'disabled'}, named ${name}, to ${uri.slice(8, 9)}`
      return `replace revision ${call.revision} of ${id} by ${revision}: ${next}`
    }
    case 'read':
      return `read webhook ${call.id} for ${call.accountId}`
    case 'list':
      return 'list the webhooks'
    case 'deliveries':
      return `list the deliveries of ${call.webhookId}`
    case 'attempts':
      return 'list the attempts'
    case 'prune':
      return `prune: keep ${call.keep} attempts per webhook, none older than ${call.now - call.beforeMs} ms`
    case 'erase':
      return `erase call ${call.callId}`
  }
}

function formatGroup({
  owner,
  lease,
  version,
  accepted,
  ended,
  starting,
  finished,
  isRepeat,
  now,
}: GroupCall): string {
  const parts = [
    ...accepted.map(formatAcceptance),
    ...ended.map((end) => `settle ${formatSettlement(end, now)}`),
    ...(starting?.deliveries ?? []).map(
      ({ id, attempt, epoch }) => `start ${id} attempt ${attempt}, epoch ${epoch}`,
    ),
    ...finished.map((key) => `finish starts ${key}`),
  ]
  const under = lease ? `lease ${lease.fence}, version ${version}` : 'no lease'
  return `${owner} commits${isRepeat ? ' again' : ''} (${under}): ${parts.join('; ')}`
}

function formatAcceptance({ events, deliveries }: AcceptanceCall): string {
  const names = events.map(({ id, callId, key }) => `${id} of call ${callId}${key ? ` with key ${key}` : ''}`)
  return `accept ${names.join(' and ') || 'a replay'}: ${deliveries.map(formatDelivery).join(', ')}`
}

const formatDelivery = ({ id, eventId, webhookId, lane, epoch, replayOf }: DeliveryCall) =>
  `${id} (${replayOf === undefined ? eventId : `again ${replayOf}`} to ${webhookId}, lane ${lane}, epoch ${epoch})`

function formatSettlement(s: SettlementCall, now: number): string {
  const due = s.dueMs === undefined ? '' : `, due in ${s.dueMs - now} ms`
  const record = s.record === undefined ? '' : `, record ${s.record}`
  const paused = s.health?.pausedUntilMs === undefined ? '' : `, paused ${s.health.pausedUntilMs - now} ms`
  const probed = s.health?.openings ? ', probing' : ''
  const disabled = s.disable ? ', disables its webhook' : ''
  return `${s.id} (attempts ${s.from} to ${s.attempts}) as ${s.to}${due}${record}${paused}${probed}${disabled}`
}
