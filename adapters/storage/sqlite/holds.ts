/** Stores which accounts are held. */
import type { HoldStore } from 'hookswitch/store'
import type { EngineContext } from './context.js'
import type { Statements } from './query.js'
import type { Synchronous } from './synchronous.js'

export function createHoldStore({
  prepareQuery,
  prepareChange,
}: Pick<EngineContext, keyof Statements>): Synchronous<HoldStore> {
  const list = prepareQuery<{ readonly scope: string }>(
    "select scope from hookswitch_hold where scope > '' order by scope",
  )
  const put = prepareChange('insert into hookswitch_hold (scope) values (?) on conflict do nothing')
  const remove = prepareChange('delete from hookswitch_hold where scope = ?')
  return {
    list: () => list.all().map(({ scope }) => scope),
    put: (scope) => put(scope) > 0,
    remove: (scope) => remove(scope) > 0,
  }
}
