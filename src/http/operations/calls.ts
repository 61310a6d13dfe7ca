/** The history of a call. */
import { callJson } from '../../wire/call-json.js'
import { accountIdOf, callIdOf, type Operation } from './context.js'

export const readCall: Operation = async (context) => ({
  data: callJson(await context.deps.webhooks.call(accountIdOf(context), callIdOf(context))),
})
