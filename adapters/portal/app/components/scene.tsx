/** The picture beside the login: a call, and the events that the user's systems receive. */
import { t } from '../state/translate.js'

export function Scene() {
  return (
    <aside class="scene" aria-label={t('scene.label')}>
      <figure>
        <svg viewBox="0 0 520 380" role="img" aria-label={t('scene.picture')}>
          <path class="leg-line" d="M110 56V356" />
          <path class="hook-line" d="M290 56V356M440 56V356" />
          <g text-anchor="middle">
            <text x="110" y="24">
              +49 30 5550142
            </text>
            <Dim x={110} y={42} text={t('scene.call')} />
            <text x="290" y="24">
              CRM
            </text>
            <Dim x={290} y={42} text={t('scene.system')} />
            <text x="440" y="24">
              {t('scene.billing')}
            </text>
            <Dim x={440} y={42} text={t('scene.system')} />
          </g>
          <Dim x={0} y={98} text="14:31:02" />
          <Dim x={0} y={198} text="+ 3 s" />
          <Dim x={0} y={298} text="+ 41 s" />
          <path
            class="arrow"
            d="M110 94H238M231 89l7 5-7 5M110 194H238M231 189l7 5-7 5M110 294H372M365 289l7 5-7 5"
          />
          <g text-anchor="middle">
            <Chip x={110} y={80} width={100} isEvent text={t('scene.started')} />
            <Chip x={110} y={180} width={92} isEvent text={t('scene.answered')} />
            <Chip x={110} y={280} width={96} isEvent text={t('scene.ended')} />
            <Chip x={290} y={80} width={96} tone="good" text={t('scene.took', { took: 31 })} />
            <Chip x={290} y={180} width={96} tone="good" text={t('scene.took', { took: 28 })} />
            <Chip x={440} y={280} width={128} tone="late" text={t('scene.again')} />
            <Chip x={440} y={322} width={96} tone="good" text={t('scene.took', { took: 44 })} />
          </g>
        </svg>
        <figcaption>{t('scene.caption')}</figcaption>
      </figure>
    </aside>
  )
}

function Dim({ x, y, text }: { readonly x: number; readonly y: number; readonly text: string }) {
  return (
    <text class="dim" x={x} y={y}>
      {text}
    </text>
  )
}

interface ChipProps {
  /** Middle. */
  readonly x: number
  /** Upper edge. */
  readonly y: number
  readonly width: number
  readonly text: string
  readonly isEvent?: boolean
  readonly tone?: 'good' | 'late'
}

function Chip({ x, y, width, text, isEvent = false, tone }: ChipProps) {
  return (
    <>
      <rect
        class={isEvent ? 'chip on' : 'chip'}
        x={x - width / 2}
        y={y}
        width={width}
        height="28"
        rx={isEvent ? 14 : 7}
      />
      <text class={tone} x={x} y={y + 18}>
        {text}
      </text>
    </>
  )
}
