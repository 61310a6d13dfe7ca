import type { DeliveryCall, SettlementCall, StoreCall } from './store-calls.js'

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
    case 'accept': {
      const events = call.events.map(
        ({ id, callId, key }) => `${id} of call ${callId}${key ? ` with key ${key}` : ''}`,
      )
      return `accept ${events.join(' and ')}: ${call.deliveries.map(formatDelivery).join(', ') || 'no delivery'}`
    }
    case 'claim': {
      const endpoints = call.endpoints.map(
        ({ webhookId, slots, retriesFirst }) =>
          `${webhookId} (slots ${slots}${retriesFirst ? ', retries first' : ''})`,
      )
      return `${call.owner} claims from ${endpoints.join(', ')}, at most ${call.limit}`
    }
    case 'settle':
      return `${call.owner} settles ${call.settlements.map((one) => formatSettlement(one, call.now)).join('; ')}`
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
    case 'pending':
      return 'count pending deliveries'
    case 'ready':
      return `list ready endpoints of ${call.owner}`
    case 'stale':
      return `list stale deliveries of ${call.owner}`
    case 'orphans':
      return `list orphans of ${call.owner}`
    case 'deliveries':
      return `list the deliveries of ${call.webhookId}, ${formatOrder(call)}`
    case 'attempts':
      return `list the attempts of ${call.webhookId ?? 'all'}${call.callId ? ` in call ${call.callId}` : ''}, ${formatOrder(call)}`
    case 'page':
      return `read the next ${call.size} attempts after ${call.last ?? 'none'}`
    case 'prune':
      return `prune: keep ${call.keep} attempts per webhook, none older than ${call.now - call.beforeMs} ms`
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

const formatDelivery = ({ id, eventId, webhookId, lane, epoch }: DeliveryCall) =>
  `${id} (${eventId} to ${webhookId}, lane ${lane}, epoch ${epoch})`

function formatSettlement(s: SettlementCall, now: number): string {
  const due = s.dueMs === undefined ? '' : `, due in ${s.dueMs - now} ms`
  const record = s.record === undefined ? '' : `, record ${s.record}`
  const paused = s.health?.pausedUntilMs === undefined ? '' : `, paused ${s.health.pausedUntilMs - now} ms`
  const probed = s.health?.openings ? ', probing' : ''
  const disabled = s.disable ? ', disables its webhook' : ''
  return `${s.id} (${s.from}, fence ${s.fence}) as ${s.to}${due}${record}${paused}${probed}${disabled}`
}
