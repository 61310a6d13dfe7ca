import type { Statement } from '../statement.js'

export const holdStatements = (s: string) =>
  ({
    list: { name: 'hold_list', text: `select scope from ${s}.hold order by scope` },
    put: {
      name: 'hold_put',
      text: `insert into ${s}.hold (scope) values ($1) on conflict do nothing returning scope`,
    },
    remove: { name: 'hold_remove', text: `delete from ${s}.hold where scope = $1 returning scope` },
  }) satisfies Record<string, Statement>
