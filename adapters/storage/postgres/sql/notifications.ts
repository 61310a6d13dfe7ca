import type { Statement } from '../statement.js'

export const notificationStatements = (_schema: string) =>
  ({
    notify: { name: 'wake_notify', text: 'select pg_notify($1, $2) is null as told' },
  }) satisfies Record<string, Statement>
