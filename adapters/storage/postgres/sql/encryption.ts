import type { Statement } from '../statement.js'

export const encryptionStatements = (s: string) =>
  ({
    record: { name: 'encryption_record', text: `select record from ${s}.encryption` },
    /** Both conditions are checked under the lock of the row that is written. */
    insertRecord: {
      name: 'encryption_insert',
      text: `insert into ${s}.encryption (id, record) values (1, $1) on conflict do nothing returning id`,
    },
    replaceRecord: {
      name: 'encryption_replace',
      text: `update ${s}.encryption set record = $1 where record = $2 returning id`,
    },
    apiKeys: {
      name: 'encryption_api_keys',
      text: `select doc from ${s}.api_key where account_id > $1 order by account_id limit $2::int`,
    },
    lockApiKey: {
      name: 'encryption_lock_api_key',
      text: `select doc from ${s}.api_key where account_id = $1 for update`,
    },
    putApiKey: {
      name: 'encryption_put_api_key',
      text: `update ${s}.api_key set doc = $2 where account_id = $1`,
    },
    webhooks: {
      name: 'encryption_webhooks',
      text: `select doc, health from ${s}.webhook where id > $1 order by id limit $2::int`,
    },
    lockWebhook: {
      name: 'encryption_lock_webhook',
      text: `select doc, health from ${s}.webhook where id = $1 for no key update`,
    },
    /** The statement-level trigger marks the account as changed, so that nodes read its webhooks again. */
    putWebhook: {
      name: 'encryption_put_webhook',
      text: `update ${s}.webhook set revision = $2, doc = $3 where id = $1`,
    },
  }) satisfies Record<string, Statement>
