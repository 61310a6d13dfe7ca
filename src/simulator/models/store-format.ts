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
      return `list the deliveries of ${call.webhookId}, ${formatOrder(call)}`
    case 'attempts':
      return `list the attempts of ${call.webhookId ?? 'all'}${call.callId ? ` in call ${call.callId}` : ''}, ${formatOrder(call)}`
    case 'page':
      return `read the next ${call.size} attempts after ${call.last ?? 'none'}`
    case 'prune':
      return `prune: keep ${call.keep} attempts per webhook, none older than ${call.now - call.beforeMs} ms`
    case 'prune oldest':
      return 'prune all deliveries that have ended, the oldest first'
    case 'count replayable':
      return `count what a replay of ${call.webhookIds.join(', ')} would repeat${call.includeRecovered ? ', with what has recovered' : ''}`
    case 'erase':
      return `erase call ${call.callId}`
    case 'issue':
      return `issue token ${call.token.hash} for ${call.token.userId ?? 'the key'} of ${call.token.accountId}`
    case 'read token':
      return `read token ${call.hash}`
    case 'revoke':
      return `revoke token ${call.hash}`
    case 'revoke all':
      return `revoke all tokens of ${call.holder === null ? 'the key' : (call.holder ?? 'all')} of ${call.accountId}`
    case 'prune tokens':
      return 'prune expired tokens'
    case 'add account':
    case 'update account': {
      const { id, realm, parentId } = call.account
      return `${call.do} ${id}, realm ${realm}, parent ${parentId ?? 'none'}`
    }
    case 'remove account':
      return `remove account ${call.id}`
    case 'find account':
      return `find account ${call.id}`
    case 'put user':
      return `put user ${call.id}, named ${call.username}, into ${call.accountId}`
    case 'remove user':
      return `remove user ${call.id} of ${call.accountId}`
  }
}

const formatOrder = ({ ascending, size }: { ascending: boolean; size: number }) =>
  `${ascending ? 'oldest' : 'newest'} first, ${size} per page`

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
