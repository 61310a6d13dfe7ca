/** The live stream of an account. */

import { getHeader } from '../../wire/request-head.js'
import { parseStreamQuery, streamFailure } from '../../wire/stream-json.js'
import { accountIdOf, type Operation, translateFailures } from './context.js'

export const streamItems: Operation = async (context) => {
  const { deps, caller, headers, isHead, query } = context
  const { streams } = deps.core()
  const lastId = getHeader(headers, 'last-event-id')
  const request = {
    ...parseStreamQuery(query),
    accountId: accountIdOf(context),
    // A client that has received no id yet may send an empty one.
    ...(lastId !== undefined && lastId !== '' && { lastId }),
  }
  if (isHead) {
    await translateFailures(streams.check(request), streamFailure)
    return {}
  }
  return { source: await translateFailures(streams.open(request, caller!), streamFailure) }
}
