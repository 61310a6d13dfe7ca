import type { DeliveryCall, SettlementCall, StoreCall } from './store-calls.js'

/** A call as a sentence of the story. */
export function words(call: StoreCall): string {
  switch (call.do) {
    case 'own':
      return `${call.owner} takes the shards`
    case 'renew':
      return `${call.owner} renews its lease`
    case 'ask too early':
      return `${call.owner} asks for shards while another's lease lasts`
    case 'release':
      return `${call.owner} gives its shards back`
    case 'accept': {
      const events = call.events.map(
        ({ id, callId, key }) => `${id} of call ${callId}${key ? ` with key ${key}` : ''}`,
      )
      return `accept ${events.join(' and ')}: ${call.deliveries.map(delivery).join(', ') || 'no delivery'}`
    }
    case 'claim': {
      const rooms = call.endpoints.map(
        ({ webhookId, room, retriesFirst }) =>
          `${webhookId} (room ${room}${retriesFirst ? ', retries' : ''})`,
      )
      return `${call.owner} claims of ${rooms.join(', ')}, at most ${call.limit}`
    }
    case 'settle':
      return `${call.owner} settles ${call.settlements.map((one) => settlement(one, call.now)).join('; ')}`
    case 'insert':
      return `make webhook ${call.hook.id}`
    case 'replace': {
      const { id, name, uri, enabled, deleted, revision } = call.hook
      const as = deleted
        ? 'deleted'
        : `${enabled ? 'enabled' : 'disabled'}, named ${name}, to ${uri.slice(8, 9)}`
      return `replace revision ${call.revision} of ${id} by ${revision}: ${as}`
    }
    case 'read':
      return `read webhook ${call.id} for ${call.accountId}`
    case 'list':
      return 'list the webhooks'
    case 'pending':
      return 'count what is pending'
    case 'ready':
      return `which endpoints ${call.owner} has work for`
    case 'stale':
      return `what is cancelled, not yet settled, of ${call.owner}`
    case 'orphans':
      return `what is in flight, with nobody, of ${call.owner}`
    case 'deliveries':
      return `read the deliveries of ${call.webhookId}, ${order(call)}`
    case 'attempts':
      return `read the attempts of ${call.webhookId ?? 'all'}${call.callId ? ` in call ${call.callId}` : ''}, ${order(call)}`
    case 'page':
      return `read ${call.size} attempts more, behind ${call.last ?? 'none'}`
    case 'prune':
      return `prune: keep ${call.keep} attempts of a webhook, none older than ${call.now - call.beforeMs} ms`
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
      return 'remove expired tokens'
    case 'add account':
    case 'move account': {
      const { id, realm, parentId } = call.account
      return `${call.do === 'add account' ? 'add' : 'change'} account ${id}, realm ${realm}, parent ${parentId ?? 'none'}`
    }
    case 'remove account':
      return `remove account ${call.id}`
    case 'find account':
      return `look up account ${call.id}`
    case 'put user':
      return `put user ${call.id}, named ${call.username}, into ${call.accountId}`
    case 'remove user':
      return `remove user ${call.id} of ${call.accountId}`
  }
}

const order = ({ ascending, size }: { ascending: boolean; size: number }) =>
  `${ascending ? 'oldest' : 'newest'} first, ${size} a page`

const delivery = ({ id, eventId, webhookId, lane, epoch }: DeliveryCall) =>
  `${id} (${eventId} to ${webhookId}, lane ${lane}, epoch ${epoch})`

function settlement(s: SettlementCall, now: number): string {
  const due = s.dueMs === undefined ? '' : `, due in ${s.dueMs - now} ms`
  const record = s.record === undefined ? '' : `, record ${s.record}`
  const paused = s.health?.pausedUntilMs === undefined ? '' : `, paused ${s.health.pausedUntilMs - now} ms`
  const probed = s.health?.openings ? ', to be probed' : ''
  const disabled = s.disable ? ', and disables its webhook' : ''
  return `${s.id} (${s.from}, fence ${s.fence}) as ${s.to}${due}${record}${paused}${probed}${disabled}`
}
