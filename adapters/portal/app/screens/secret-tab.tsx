/** The secret of a webhook: shown for a while, replaced, and how a receiver checks signatures with it. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { accountRequest } from '../api/api.js'
import { Button } from '../components/button.js'
import { CopyButton } from '../components/copy.js'
import { ConfirmButton } from '../components/dialog.js'
import { Loaded } from '../components/load-state.js'
import { Note, Panel } from '../components/panel.js'
import { Seg } from '../components/seg.js'
import { useAction } from '../state/action.js'
import { notify } from '../state/announce.js'
import { useResource } from '../state/resource.js'
import { route } from '../state/router.js'
import { canChange } from '../state/scope.js'
import { t } from '../state/translate.js'

const SHOWN_MS = 30_000
const PATH = '/webhooks/{webhook_id}/secret'
const HIDDEN = 'whsec_••••••••••••••••'

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
  const hide = () => {
    secret.value = ''
  }
  useEffect(() => {
    if (secret.value === '') return
    const timer = setTimeout(hide, SHOWN_MS)
    return () => clearTimeout(timer)
  }, [secret.value])
  const isHidden = secret.value === ''
  return (
    <div class="stack">
      {route.value.query.created !== undefined && (
        <Note tone="ok" icon="ok">
          <b>{t('secret.created')}</b> {t('secret.createdText')}
        </Note>
      )}
      <Panel title={t('secret.title')}>
        <div class="pad stack">
          <p class="soft">{t('secret.text')}</p>
          <output class={isHidden ? 'code soft' : 'code'}>{isHidden ? HIDDEN : secret.value}</output>
          <div class="row">
            {isHidden ? (
              <Button
                icon="key"
                busy={reveal.isRunning.value ? t('secret.reveal') : undefined}
                onClick={() => void reveal.run()}
              >
                {t('secret.reveal')}
              </Button>
            ) : (
              <>
                <CopyButton label={t('secret.copy')} text={() => secret.value} />
                <Button onClick={hide}>{t('secret.hide')}</Button>
                <span class="small soft">{t('secret.hidden')}</span>
              </>
            )}
            <span class="push" />
            <ConfirmButton
              action={rotate}
              look={{ kind: 'danger' }}
              isDisabled={!canChange.value}
              label={t('secret.rotate')}
              text={t('secret.rotateText')}
              verb={t('secret.rotate')}
              isDangerous
            />
          </div>
        </div>
      </Panel>
      <Snippets />
    </div>
  )
}

/** The code of the receivers' documentation, loaded when this tab is shown. */
function Snippets() {
  const snippets = useResource(async () => (await import('virtual:snippets')).default, [])
  const chosen = useSignal('')
  return (
    <Panel title={t('secret.verify')}>
      <div class="pad stack">
        <p class="soft">{t('secret.verifyText')}</p>
        <Loaded resource={snippets}>
          {(list) => {
            const snippet = list.find(({ name }) => name === chosen.value) ?? list[0]!
            return (
              <>
                <div class="bar">
                  <Seg
                    label={t('secret.language')}
                    value={snippet.name}
                    onChange={(name) => {
                      chosen.value = name
                    }}
                    options={list.map(({ name }) => ({ value: name, text: name }))}
                  />
                </div>
                <pre class="code" tabIndex={0} role="region" aria-label={snippet.name}>
                  {snippet.code}
                </pre>
                <div class="row">
                  <CopyButton label={t('secret.copyCode')} text={() => snippet.code} />
                </div>
              </>
            )
          }}
        </Loaded>
      </div>
    </Panel>
  )
}
