/** What an id belongs to. */
import { errorCode, invalidInput } from '../../errors.js'
import { isId } from '../../values/ids.js'
import { getQueryValue } from '../../wire/query.js'
import { accountIdOf, isCallId, type Operation } from './context.js'

/** `undefined` where the account has nothing with this id. */
async function orUndefined<Found>(reading: Promise<Found>): Promise<Found | undefined> {
  try {
    return await reading
  } catch (thrown) {
    if (errorCode(thrown) === 'NotFound') return undefined
    throw thrown
  }
}

/** Names everything of the account that has the id of the query: nothing is an empty list, not an error. */
export const lookUp: Operation = async (context) => {
  const id = getQueryValue(context.query, 'id')
  if (!id) throw invalidInput([{ path: 'id', rule: 'required', message: 'Field is required but missing' }])
  const accountId = accountIdOf(context)
  const { webhooks } = context.deps
  // First: it throws while the instance closes, when nothing must be under way that nobody awaits.
  const { deliveries } = context.deps.core().store
  const [webhook, delivery, legs] = await Promise.all([
    isId(id) ? orUndefined(webhooks.read(accountId, id)) : undefined,
    isId(id) ? orUndefined(webhooks.delivery(accountId, id)) : undefined,
    isCallId(id) ? deliveries.legs(accountId, id) : [],
  ])
  const types = [
    ...(webhook ? ['webhook'] : []),
    ...(delivery ? ['delivery'] : []),
    ...(legs.length > 0 ? ['call'] : []),
  ]
  return { data: types.map((type) => ({ type, id })) }
}
