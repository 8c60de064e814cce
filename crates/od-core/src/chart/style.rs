//! The style sheet of charts, written before the first chart of a page.

/// Colours and sizes. Everything is a variable or below a class of its own, without weight
/// (`:where`), so that a template that sets `--od-1` wins wherever it does.
///
/// The light colours have at least 3:1 on white and on `#111`: a page that is dark without saying so
/// in `color-scheme` still shows them. The lighter ones of dark pages are only used by pages that do.
pub(crate) const CHART_STYLE: &str = "<style>\
:where(:root){--od-1:#2f6fed;--od-2:#d9541e;--od-3:#0f8f7e;--od-4:#a23bd6;--od-5:#c98500;--od-6:#d6336c;--od-7:#5b7083;--od-8:#5a8a1b}\
@supports(color:light-dark(#000,#fff)){:where(:root){\
--od-1:light-dark(#2f6fed,#6ea0ff);--od-2:light-dark(#d9541e,#ff8a5c);--od-3:light-dark(#0f8f7e,#2fc4ae);--od-4:light-dark(#a23bd6,#c98bf5);\
--od-5:light-dark(#c98500,#e0a93a);--od-6:light-dark(#d6336c,#ff7aa8);--od-7:light-dark(#5b7083,#9fb2c4);--od-8:light-dark(#5a8a1b,#93c24a)}}\
.od-k1{--od-k:var(--od-1)}.od-k2{--od-k:var(--od-2)}.od-k3{--od-k:var(--od-3)}.od-k4{--od-k:var(--od-4)}\
.od-k5{--od-k:var(--od-5)}.od-k6{--od-k:var(--od-6)}.od-k7{--od-k:var(--od-7)}.od-k8{--od-k:var(--od-8)}\
:where(.od-c){position:relative;min-width:0}\
:where(.od-h){font-weight:600;font-size:.9375rem;line-height:1.3;margin:0 0 .6rem}\
:where(.od-s){display:block;box-sizing:border-box;width:100%;overflow:visible}\
:where(.od-s text){font-size:12px;font-weight:400;letter-spacing:normal;fill:currentColor;fill-opacity:.72;font-variant-numeric:tabular-nums}\
:where(.od-s .od-v){fill-opacity:1;font-weight:600}\
:where(.od-g){stroke:currentColor;stroke-opacity:.14;shape-rendering:crispEdges}\
:where(.od-z){stroke-opacity:.4}\
:where(.od-w){fill:none;stroke:var(--od-k);stroke-width:2;stroke-linejoin:round;stroke-linecap:round}\
:where(.od-a){fill:var(--od-k);fill-opacity:.16}\
:where(.od-b){fill:var(--od-k)}\
:where(.od-q){fill:currentColor;fill-opacity:.12}\
:where(.od-e){fill:none;stroke:var(--od-k);stroke-width:30}\
:where(.od-e0){stroke:currentColor;stroke-opacity:.3}\
:where(.od-spark){min-width:5rem}\
:where(.od-o){display:flex;flex-wrap:wrap;align-items:center;gap:.75rem 1.5rem}\
:where(.od-o .od-s){flex:none}\
:where(.od-l){display:flex;flex-wrap:wrap;gap:.2rem 1rem;margin:.5rem 0 0;padding:0;list-style:none;font-size:.8125rem;line-height:1.5}\
:where(.od-l li){display:flex;align-items:center;gap:.45rem;margin:0;padding:0;min-width:0;overflow-wrap:anywhere}\
:where(.od-l i){flex:none;width:.7rem;height:.7rem;border-radius:.2rem;background:var(--od-k)}\
:where(.od-l .od-k0){background:currentColor;opacity:.3}\
:where(.od-o .od-l){flex:1 1 11.5rem;min-width:min-content;display:block;margin:0}\
:where(.od-o .od-l span){flex:1;min-width:4.5em}\
:where(.od-l b){font-weight:600;font-variant-numeric:tabular-nums;white-space:nowrap}\
:where(.od-l em){font-style:normal;opacity:.72;font-variant-numeric:tabular-nums;min-width:2.4rem;text-align:right}\
:where(.od-t){position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}\
@media print{:where(.od-c){break-inside:avoid;print-color-adjust:exact;-webkit-print-color-adjust:exact}}\
</style>";
