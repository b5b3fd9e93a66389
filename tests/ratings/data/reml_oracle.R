# Draws the tables beside it and lets lme4 and lmerTest fit them. Run from the root: Rscript tests/ratings/data/reml_oracle.R
suppressMessages(library(lmerTest)); options(digits=12)
ctl <- lmerControl(optimizer="bobyqa", optCtrl=list(rhobeg=2e-3,rhoend=1e-9,maxfun=1e6), check.nobs.vs.nRE="ignore", calc.derivs=FALSE, check.nobs.vs.nlev="ignore", check.nlev.gtr.1="ignore")
set.seed(20261)
sim <- function(I,S,R,v,keep,fixed=rep(0,S)) {
  d <- expand.grid(rater=1:R, system=1:S, item=1:I)
  y <- fixed[d$system] + rnorm(I,0,sqrt(v["item"]))[d$item] + rnorm(R,0,sqrt(v["rater"]))[d$rater] +
    rnorm(I*S,0,sqrt(v["is"]))[(d$item-1)*S+d$system] + rnorm(I*R,0,sqrt(v["ir"]))[(d$item-1)*R+d$rater] +
    rnorm(S*R,0,sqrt(v["sr"]))[(d$system-1)*R+d$rater] + rnorm(nrow(d),0,sqrt(v["e"]))
  d$score <- round(3+y,3); d[keep(d),c("item","system","rater","score")]
}
v <- c(item=.15,rater=.5,is=.1,ir=.4,sr=.08,e=.6)
sets <- list(
 holes_12x4x5 = sim(12,4,5,v,function(d) runif(nrow(d))>.2, c(0,.3,.6,1)),
 holes_10x3x4_boundary = sim(10,3,4,c(item=.3,rater=.2,is=0,ir=.2,sr=0,e=1),function(d) runif(nrow(d))>.15),
 sparse_30x5x6 = sim(30,5,6,v,function(d) (d$rater+d$item)%%3==0, c(0,.2,.4,.6,.8)),
 steep_8x3x12 = sim(8,3,12,c(item=2,rater=9,is=.5,ir=.05,sr=.3,e=.2),function(d) runif(nrow(d))>.3, c(0,1,2)))
fac <- function(d){for(n in setdiff(names(d),"score"))d[[n]]<-factor(d[[n]]);d}
num <- function(x) sprintf("%.10g",x)
out <- c()
one <- function(name,d,rand,extra=NULL) {
  d <- fac(d)
  m <- suppressWarnings(suppressMessages(lmer(as.formula(paste("score ~ (1|system) +",rand)),d,control=ctl)))
  f <- suppressWarnings(suppressMessages(lmer(as.formula(paste("score ~ system +",rand)),d,control=ctl)))
  vc <- as.data.frame(VarCorr(m)); a <- suppressWarnings(anova(f)); b <- fixef(f)
  L <- c(0,1,rep(0,length(b)-2)); c1 <- contest1D(f,L)
  vf <- as.data.frame(VarCorr(f))
  js <- function(v) paste0("{",paste0('"',ifelse(v$grp=="Residual","residual",v$grp),'": ',num(v$vcov),collapse=", "),"}")
  paste0('  "',name,'": {"formula": "',paste("score ~ (1|system) +",rand),'", "components": ',js(vc),', "criterion": ',num(REMLcrit(m)),
   ', "system_fixed": {"components": ',js(vf),', "criterion": ',num(REMLcrit(f)),', "f": ',num(a[1,"F value"]),', "df1": ',num(a[1,"NumDF"]),', "df2": ',num(a[1,"DenDF"]),', "p": ',num(a[1,"Pr(>F)"]),
   ', "means": [',paste(num(c(b[1],b[1]+b[-1])),collapse=", "),'], "second_minus_first": {"estimate": ',num(c1[1,"Estimate"]),', "se": ',num(c1[1,"Std. Error"]),', "df": ',num(c1[1,"df"]),'}}}')
}
full <- "(1|item)+(1|rater)+(1|item:system)+(1|item:rater)+(1|system:rater)"
dir <- "tests/ratings/data/"
for (n in names(sets)) { write.csv(sets[[n]],paste0(dir,"reml_",n,".csv"),row.names=FALSE,quote=FALSE); out <- c(out,one(n,sets[[n]],full)) }
out <- c(out, sub('"holes_12x4x5"','"holes_12x4x5_without_item_system"',one("holes_12x4x5",sets[[1]],"(1|item)+(1|rater)+(1|item:rater)+(1|system:rater)")))
# raters nested in items: item names of raters unique
d <- expand.grid(k=1:4, system=1:4, item=1:15); I<-15;S<-4
d$rater <- (d$item-1)*4+d$k
d$score <- round(2+.3*d$system+rnorm(I,0,.6)[d$item]+rnorm(60,0,.7)[d$rater]+rnorm(I*S,0,.3)[(d$item-1)*S+d$system]+rnorm(nrow(d),0,.8),3)
d <- d[runif(nrow(d))>.15, c("item","system","rater","score")]
write.csv(d,paste0(dir,"reml_nested_15x4.csv"),row.names=FALSE,quote=FALSE)
out <- c(out, one("nested_15x4",d,"(1|item)+(1|rater)+(1|item:system)"))
# a table (drawn by numpy, all of its variances but three near zero) whose fit has two zeros and uneven degrees of freedom
d <- read.csv(paste0(dir,"reml_two_zeros_7x3x5.csv"))
out <- c(out, one("two_zeros_7x3x5",d,full))
cat(paste0('{\n "note": "Made by tests/ratings/data/reml_oracle.R: data simulated, values by ',R.version.string,', lme4 ',packageVersion("lme4"),', lmerTest ',packageVersion("lmerTest"),' (bobyqa, rhoend 1e-9)",\n "sets": {\n',paste(out,collapse=",\n"),'\n }\n}\n'),file=paste0(dir,"reml_oracle.json"))
