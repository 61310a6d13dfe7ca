/** The secret of a webhook: shown for a while, replaced, and how a receiver checks signatures with it. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { accountRequest } from '../api/api.js'
import { Chips } from '../components/chips.js'
import { CopyButton } from '../components/copy.js'
import { ConfirmButton } from '../components/dialog.js'
import { ActionButton, Loaded } from '../components/load-state.js'
import { useAction } from '../state/action.js'
import { notify } from '../state/announce.js'
import { useResource } from '../state/resource.js'
import { isReadOnly } from '../state/scope.js'
import { t } from '../state/translate.js'

const SHOWN_MS = 30_000
const PATH = '/webhooks/{webhook_id}/secret'

interface SecretDocument {
  readonly secret: string
}

export interface SecretTabProps {
  readonly accountId: string
  readonly webhookId: string
}

export function SecretTab({ accountId, webhookId }: SecretTabProps) {
  const secret = useSignal('')
  const address = { accountId, webhookId }
  const reveal = useAction(async () => {
    secret.value = (await accountRequest<SecretDocument>('GET', PATH, address)).secret
  })
  const rotate = useAction(async () => {
    secret.value = (await accountRequest<SecretDocument>('PUT', PATH, { ...address, data: {} })).secret
    notify(t('secret.rotated'))
  })
  useEffect(() => {
    if (secret.value === '') return
    const timer = setTimeout(() => {
      secret.value = ''
    }, SHOWN_MS)
    return () => clearTimeout(timer)
  }, [secret.value])
  return (
    <>
      <p>{t('secret.text')}</p>
      <p>
        <output class="secret number">{secret.value === '' ? 'whsec_••••••••••••••••' : secret.value}</output>
      </p>
      {secret.value !== '' && <p class="muted">{t('secret.hidden')}</p>}
      <p class="buttons">
        {secret.value === '' ? (
          <ActionButton action={reveal}>{t('secret.reveal')}</ActionButton>
        ) : (
          <>
            <CopyButton label={t('action.copy')} text={() => secret.value} />
            <button
              type="button"
              onClick={() => {
                secret.value = ''
              }}
            >
              {t('secret.hide')}
            </button>
          </>
        )}
        <ConfirmButton
          action={rotate}
          class="danger"
          isDisabled={isReadOnly.value}
          label={t('secret.rotate')}
          text={t('secret.rotateText')}
          verb={t('secret.rotate')}
          isDangerous
        />
      </p>
      <Snippets />
    </>
  )
}

/** The code of the receivers' documentation, loaded when this tab is shown. */
function Snippets() {
  const snippets = useResource(async () => (await import('virtual:snippets')).default, [])
  const chosen = useSignal('')
  return (
    <section>
      <h2>{t('secret.verify')}</h2>
      <Loaded resource={snippets}>
        {(list) => {
          const snippet = list.find(({ name }) => name === chosen.value) ?? list[0]!
          return (
            <>
              <Chips
                label={t('secret.language')}
                value={snippet.name}
                onChange={(name) => {
                  chosen.value = name
                }}
                chips={list.map(({ name }) => ({ value: name, label: name }))}
              />
              <pre class="body" tabIndex={0} role="region" aria-label={snippet.name}>
                <code>{snippet.code}</code>
              </pre>
              <CopyButton label={t('action.copy')} text={() => snippet.code} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}
