/** What became of a call, number, event, delivery or webhook. */
import { findWhy } from '../../runtime/why.js'
import { validateWhy } from '../../values/validators.generated.js'
import { whySchema } from '../../wire/body-schemas.js'
import { accountsOfReport, whyJson } from '../../wire/why-json.js'
import {
  accountIdOf,
  accountNames,
  callerRights,
  type Operation,
  type OperationContext,
  validateBody,
} from './context.js'

async function respond(context: OperationContext, accountId?: string) {
  const { q } = validateBody(context, whySchema, validateWhy) as { readonly q: string }
  return context.readInTurn(async () => {
    const report = await findWhy(context.deps.core(), q, accountId)
    const names = await accountNames(context.deps, accountsOfReport(report))
    return { data: whyJson(report, { names, isOperator: callerRights(context).isOperator }) }
  })
}

export const why: Operation = (context) => respond(context, accountIdOf(context))

export const whyAnywhere: Operation = (context) => respond(context)
